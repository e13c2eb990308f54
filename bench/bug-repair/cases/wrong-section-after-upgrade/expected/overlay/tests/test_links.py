import re

import pytest

from quillpress import Site, parse, render_toc

DEPLOYING = """\
# Deploying

## Staging

Use it early.

### Checklist

- migrations reviewed

## Production

Use it late.

### Checklist

- on-call informed

## Checklist

What both have in common.
"""

# Sections without text, titles that share a slug, a title that looks numbered
# and anchors that the source asks for.
TRICKY = """\
# Notes

## Set-up

### Set up

By hand.

### Set up 2

Looks numbered.

## Set up!

Automatic.

## FAQ {#set-up-3}

Asked a lot.

## Set up

At last.
"""


def headings(html):
    """Return (title, anchor) of the headings of a page, in order."""
    found = re.findall(r'<h\d id="([^"]*)">(.*?)</h\d>', html)
    return [(title, anchor) for anchor, title in found]


def toc(html):
    """Return (title, anchor) of the entries of the table of contents."""
    found = re.findall(r'<li class="level-\d"><a href="#([^"]*)">(.*?)</a>', html)
    return [(title, anchor) for anchor, title in found]


def target(reference, **sources):
    html = Site({**sources, "from": f"See [[{reference}]]."}).build()["from.html"]
    return re.search(r'<p>See <a href="([^"]*)">', html)[1]


def test_ids_in_the_page_stay():
    html = Site({"deploying": DEPLOYING}).build()["deploying.html"]
    assert headings(html) == [
        ("Deploying", "deploying"),
        ("Staging", "staging"),
        ("Checklist", "checklist"),
        ("Production", "production"),
        ("Checklist", "checklist-2"),
        ("Checklist", "checklist-3"),
    ]


def test_tricky_ids_in_the_page_stay():
    html = Site({"notes": TRICKY}).build()["notes.html"]
    assert [anchor for _, anchor in headings(html)] == [
        "notes",
        "set-up",
        "set-up-2",
        "set-up-2-2",
        "set-up-4",
        "set-up-3",
        "set-up-5",
    ]


def test_toc_of_the_report():
    assert toc(render_toc(parse(DEPLOYING))) == [
        ("Staging", "staging"),
        ("Production", "production"),
        ("Checklist", "checklist-3"),
    ]


@pytest.mark.parametrize("depth", [1, 2, 3, 6])
@pytest.mark.parametrize("source", [DEPLOYING, TRICKY], ids=["deploying", "tricky"])
def test_toc_has_the_anchors_of_the_page(source, depth):
    html = Site({"page": source}, toc_depth=depth).build()["page.html"]
    levels = [heading.level for heading in parse(source).headings]
    expected = [
        heading
        for heading, level in zip(headings(html), levels, strict=True)
        if 1 < level <= depth
    ]
    assert toc(html) == expected


def test_toc_of_a_page_that_begins_below_level_1():
    source = "### Tips\n## Tips\n# Tips\n"
    assert toc(render_toc(parse(source))) == [("Tips", "tips-2"), ("Tips", "tips-3")]


def test_toc_keeps_the_title_out():
    assert toc(render_toc(parse("# Tips\n## Tips\n### Tips\n"))) == [("Tips", "tips-2")]


def test_search_of_the_report():
    entries = Site({"deploying": DEPLOYING}).search_index()
    assert [(entry["anchor"], entry["text"]) for entry in entries] == [
        ("staging", "Use it early."),
        ("checklist", "migrations reviewed"),
        ("production", "Use it late."),
        ("checklist-2", "on-call informed"),
        ("checklist-3", "What both have in common."),
    ]


def test_search_leaves_out_sections_without_text():
    entries = Site({"notes": TRICKY}).search_index()
    assert [(entry["title"], entry["anchor"], entry["text"]) for entry in entries] == [
        ("Set up", "set-up-2", "By hand."),
        ("Set up 2", "set-up-2-2", "Looks numbered."),
        ("Set up!", "set-up-4", "Automatic."),
        ("FAQ", "set-up-3", "Asked a lot."),
        ("Set up", "set-up-5", "At last."),
    ]


def test_anchors_are_counted_for_each_page():
    sources = {"one": "# Tips\n\nA.\n", "two": "# Tips\n\nB.\n"}
    entries = Site(sources).search_index()
    assert [(entry["page"], entry["anchor"]) for entry in entries] == [
        ("one", "tips"),
        ("two", "tips"),
    ]
    assert target("two#tips", **sources) == "two.html#tips"


@pytest.mark.parametrize(
    ("reference", "anchor"),
    [
        ("Checklist", "checklist"),
        ("Staging/Checklist", "checklist"),
        ("Production/Checklist", "checklist-2"),
        ("deploying/production/CHECKLIST", "checklist-2"),
        ("Deploying / Production / Checklist", "checklist-2"),
        ("Production", "production"),
    ],
    ids=["first", "staging", "production", "case", "spaces", "outer"],
)
def test_references_of_the_report(reference, anchor):
    found = target(f"deploying#{reference}", deploying=DEPLOYING)
    assert found == f"deploying.html#{anchor}"


@pytest.mark.parametrize(
    ("reference", "anchor"),
    [
        ("Set-up", "set-up"),
        ("Set up", "set-up-2"),
        ("Set-up/Set up", "set-up-2"),
        ("Set up 2", "set-up-2-2"),
        ("Set up!", "set-up-4"),
        ("FAQ", "set-up-3"),
    ],
    ids=["outer", "inner", "path", "numbered", "mark", "custom"],
)
def test_references_to_titles_with_the_same_slug(reference, anchor):
    assert target(f"notes#{reference}", notes=TRICKY) == f"notes.html#{anchor}"


def test_identical_headings_are_told_apart():
    source = "## A\n### Same\n## B\n### Same\n## A\n### Same\n## C\n### Same\n"
    assert target("page#B/Same", page=source) == "page.html#same-2"
    assert target("page#C/Same", page=source) == "page.html#same-4"


def test_reference_to_a_title_whose_slug_is_taken_by_a_custom_anchor():
    source = "# Page\n## Install\n## Other {#install}\n"
    assert target("page#Install", page=source) == "page.html#install-2"
    assert target("page#Other", page=source) == "page.html#install"


def test_every_link_of_a_site_leads_somewhere():
    sources = {"deploying": DEPLOYING, "notes": TRICKY}
    site = Site(sources)
    anchors = {
        name.removesuffix(".html"): {anchor for _, anchor in headings(html)}
        for name, html in site.build().items()
    }
    assert all(
        entry["anchor"] in anchors[entry["page"]] for entry in site.search_index()
    )
