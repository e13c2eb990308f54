import pytest

from quillpress import BrokenReference, Site

SOURCES = {
    "start": "# Start\n\nSee [[backups]] & [[backups#restore/by HAND]].\n",
    "backups": "# Backups\n## Restore\n\nCalmly.\n\n### By hand\n\nSlowly.\n",
}


def test_build():
    pages = Site(SOURCES).build()
    assert list(pages) == ["start.html", "backups.html"]
    assert "<title>Backups</title>" in pages["backups.html"]
    assert (
        '<p>See <a href="backups.html">Backups</a> &amp; '
        '<a href="backups.html#by-hand">By hand</a>.</p>'
    ) in pages["start.html"]


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        ("restores", "there is no page 'restores'"),
        ("backups#Keep", "no such section on 'backups'"),
        ("backups#By hand/Restore", "no such section on 'backups'"),
    ],
    ids=["page", "section", "outer"],
)
def test_broken_reference(reference, reason):
    site = Site({**SOURCES, "extra": f"[[{reference}]]"})
    with pytest.raises(BrokenReference, match=reason) as caught:
        site.build()
    assert caught.value.reference == reference


def test_search_index():
    assert Site(SOURCES).search_index()[1:] == [
        {
            "page": "backups",
            "anchor": "restore",
            "title": "Restore",
            "text": "Calmly.",
        },
        {
            "page": "backups",
            "anchor": "by-hand",
            "title": "By hand",
            "text": "Slowly.",
        },
    ]
