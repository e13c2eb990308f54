"""The reporter ``markdown``, read as GitHub's Markdown reads it."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from support_runs import reported
from support_runs import result
from support_runs import store_run

from pytest_codegenie.reporters import Form
from pytest_codegenie.reporters.markdown import LEAST_BYTES
from pytest_codegenie.reporters.markdown import STEP_SUMMARY_BYTES


class Page(HTMLParser):
    """A rendered report: the cells of its tables, and the elements there are."""

    def __init__(self, markdown: str) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self.elements: set[str] = set()
        self.text = ""
        self._in_cell = False
        reader = MarkdownIt("commonmark").enable(["table", "strikethrough"])
        self.feed(reader.render(markdown))

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.elements.add(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
            self._in_cell = True

    def handle_endtag(self, tag: str) -> None:
        self._in_cell = self._in_cell and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._in_cell:
            self.tables[-1][-1][-1] += data


def test_figures_stand_beside_one_another_and_what_did_not_pass_below(
    tmp_path: Path,
) -> None:
    run = store_run(
        tmp_path,
        [
            result("a", cost=0.25, tokens=1200),
            result("b", "failed", score=0.5, mode="not_resolved", message="why\nmore"),
            result("c", "error", mode="agent.error", message="429"),
            result("d", "failed", disposition="ambiguous"),
            result("e", agent="other"),
        ],
    )
    page = Page(reported(run, "markdown"))
    figures, cases = page.tables
    assert figures[0][2:7] == ["cases", "passed", "failed", "errors", "ambiguous"]
    assert figures[1] == [
        *("demo", "nop", "4", "1", "1", "1", "1", "0.750"),
        "n/a: too few cases (2 of at least 3)",
        *("0.2500 + 3 unknown", "1200 + 3 unknown", "6.0 s"),
    ]
    assert figures[2][1] == "other"
    assert figures[2][-3:] == ["unknown", "unknown", "1.5 s"]
    assert cases[1:] == [
        ["b[nop]", "failed", "not_resolved", "why", ""],
        ["c[nop]", "error", "agent.error", "429", ""],
        ["d[nop]", "ambiguous", "", "", ""],
    ]
    assert "3 results are no pass" in page.text
    assert "as reported by the agent" in page.text
    assert "not finished" not in page.text


def test_trials_have_a_table_of_their_own(tmp_path: Path) -> None:
    run = store_run(
        tmp_path,
        [
            *(result(name, trial=trial) for name in "ab" for trial in (1, 2, 3)),
            *(result("c", trial=trial) for trial in (1, 2)),
            result("c", "error", trial=3),
            *(result("d", trial=trial) for trial in (1, 2)),
            result("d", "failed", trial=3),
            result("a", agent="once"),
        ],
        trials=3,
    )
    page = Page(reported(run, "markdown"))
    _, trials, _ = page.tables
    assert trials == [
        [
            *("task class", "agent", "k", "pass@1", "pass@k", "pass^k"),
            *("cases that flip", "too few trials for k"),
        ],
        ["demo", "nop", "3", "0.917", "1.000", "0.667", "1 of 4", "1"],
    ]


def test_a_run_without_failures_has_no_list_of_them(tmp_path: Path) -> None:
    page = Page(reported(store_run(tmp_path, [result("a")]), "markdown"))
    assert len(page.tables) == 1
    assert "details" not in page.elements


def test_a_run_that_was_cut_off_says_so_first(tmp_path: Path) -> None:
    run = store_run(tmp_path, [result("a")], selected=["a[nop]", "b_[nop]"])
    page = Page(reported(run, "markdown"))
    warning = "not finished: 1 of 2 items have a result; without one: b_[nop]"
    assert page.text.index(warning) < page.text.index("task class")


@pytest.mark.parametrize(
    "said",
    [
        "a | b || c \\| d",
        "<script>alert(1)</script> <b>x</b> </td></table></details>",
        "`code` ``more`` ```\nblock\n```",
        "*a* _b_ __c__ ~~d~~ [l](https://e.org) ![i](x.png) <https://e.org>",
        "@team #12 $x$ :tada: https://example.org www.example.org a@b.org",
        "&amp; &lt; &#65; \\* \\n",
        "# head\n\n- list\n\n---\n> quote",
        "\x1b[31mred\x07 \u202etxt.exe \u200b",
        "</code></summary>",
    ],
)
def test_what_an_agent_says_is_shown_and_nothing_else(
    tmp_path: Path, said: str
) -> None:
    """In its own cell, in the same words, without a single element of its own."""
    run = store_run(tmp_path, [result("a", "failed", mode=said, message=said)])
    markdown = reported(run, "markdown")
    page = Page(markdown)
    assert page.elements <= {
        *("h3", "p", "code", "table", "thead", "tbody", "tr", "th", "td"),
        *("details", "summary"),
    }
    row = page.tables[1][1]
    assert len(row) == 5
    whole = re.sub(r"\s+", " ", said).strip()
    assert row[2] == visible(whole)
    first_line = said.strip().partition("\n")[0].strip()
    assert row[3] == visible(first_line)
    # What GitHub finds in the text itself, after Markdown.
    assert not re.search(r"@team|(?<!&)#12|\$x\$|://|www\.", markdown)


def visible(text: str) -> str:
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def test_a_report_is_cut_between_rows_and_says_how_many_it_leaves_out(
    tmp_path: Path,
) -> None:
    results = [
        result(f"c{number:03}", "failed", message="|" * 290) for number in range(40)
    ]
    run = store_run(tmp_path, results)
    whole = Page(reported(run, "markdown"))
    assert len(whole.tables[1]) == 41
    for limit in (LEAST_BYTES, 20_000, 30_001):
        text = reported(run, "markdown", Form(max_bytes=limit))
        page = Page(text)
        assert len(text.encode()) <= limit
        shown = len(page.tables[1]) - 1
        assert 0 < shown < 40
        assert page.tables[1] == whole.tables[1][: shown + 1]
        assert page.tables[0] == whole.tables[0]
        assert f"{40 - shown} rows are left out" in page.text
        assert text.count("</details>") == 1


def test_a_report_is_never_longer_than_a_steps_summary(tmp_path: Path) -> None:
    results = [result(f"c{n}", "failed", message="|" * 290) for n in range(800)]
    run = store_run(tmp_path, results)
    text = reported(run, "markdown")
    assert STEP_SUMMARY_BYTES - 4096 < len(text.encode()) <= STEP_SUMMARY_BYTES
    assert reported(run, "markdown", Form(max_bytes=1 << 30)) == text


def test_the_headings_fit_into_the_least_there_can_be(tmp_path: Path) -> None:
    names = ["_" * 128 + "[" + "_" * 64 + "]"] * 5
    run = store_run(
        tmp_path, [result("a", "failed")], run_id="r" + "_" * 63, selected=names
    )
    text = reported(run, "markdown", Form(max_bytes=LEAST_BYTES))
    assert len(Page(text).tables) == 2
