from quillpress import BlockKind, parse, render_toc
from quillpress.markup import render_body

PAGE = """\
# Backups

Every night,
at three.

## What is kept

- databases
- uploads

## FAQ {#questions}

```
# not a heading
```
"""


def no_references(reference):
    raise AssertionError(reference)


def body(source):
    return render_body(parse(source), no_references).splitlines()


def test_parse():
    document = parse(PAGE)
    assert document.title == "Backups"
    assert [(h.level, h.title, h.custom_anchor) for h in document.headings] == [
        (1, "Backups", None),
        (2, "What is kept", None),
        (2, "FAQ", "questions"),
    ]
    assert [section.text for section in document.sections()] == [
        "Every night, at three.",
        "databases uploads",
        "# not a heading",
    ]
    assert document.parts[-1].kind is BlockKind.CODE


def test_body():
    assert body(PAGE) == [
        '<h1 id="backups">Backups</h1>',
        "<p>Every night,",
        "at three.</p>",
        '<h2 id="what-is-kept">What is kept</h2>',
        "<ul>",
        "<li>databases</li>",
        "<li>uploads</li>",
        "</ul>",
        '<h2 id="questions">FAQ</h2>',
        "<pre><code># not a heading</code></pre>",
    ]


def test_repeated_headings_have_anchors_of_their_own():
    assert body("## Tips\n## Tips\n### Tips!\n") == [
        '<h2 id="tips">Tips</h2>',
        '<h2 id="tips-2">Tips</h2>',
        '<h3 id="tips-3">Tips!</h3>',
    ]


def test_custom_anchors_go_first():
    assert body("## Tips\n## More {#tips}\n") == [
        '<h2 id="tips-2">Tips</h2>',
        '<h2 id="tips">More</h2>',
    ]


def test_toc():
    assert render_toc(parse(PAGE)).splitlines() == [
        '<ul class="toc">',
        '<li class="level-2"><a href="#what-is-kept">What is kept</a></li>',
        '<li class="level-2"><a href="#questions">FAQ</a></li>',
        "</ul>",
    ]


def test_toc_of_a_page_without_sections():
    assert render_toc(parse("# Title\n\nText.\n")) == ""
