import pytest

from quayside import ConfigError, load_settings


def test_folders_are_relative_to_the_file(base):
    path = base / "quayside.toml"
    path.write_text(
        'site = "public"\nsources = "rst"\n[max_age_by_suffix]\n".CSS" = 5\n',
        encoding="utf-8",
    )
    settings = load_settings(path)
    assert settings.site == base / "public"
    assert settings.sources == base / "rst"
    assert settings.max_age_for(base / "public/static/site.css") == 5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'site' is missing"),
        ('site = "nowhere"', "not a folder"),
        ('site = "public"\nport = 1', "unknown key 'port'"),
        ('site = "public"\n[max_age_by_suffix]\ncss = 5', "'css' = 5"),
        ("site =", "not TOML"),
    ],
    ids=["empty", "no-folder", "unknown-key", "suffix-without-dot", "not-toml"],
)
def test_unusable_settings(base, text, message):
    path = base / "quayside.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=message):
        load_settings(path)
