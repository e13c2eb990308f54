import pytest

from labelpress import ConfigError, load_printers


def test_printers_by_name():
    printers = load_printers("[printer a]\ncommand = lp {path}\noptions = x y\n")
    assert set(printers) == {"a"}
    assert printers["a"].option_names == {"x", "y"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[printer a]\n",
        "[printer a]\ncommand = lp\n",
        "[printer a]\ncommand = lp {path} {colour}\n",
        "[printer a]\ncommand = lp {path\n",
        "[scanner a]\ncommand = lp {path}\n",
    ],
    ids=["nothing", "no-command", "no-path", "unknown", "unbalanced", "section"],
)
def test_unusable_configuration(text):
    with pytest.raises(ConfigError):
        load_printers(text)
