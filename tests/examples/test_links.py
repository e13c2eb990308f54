"""Every link that stays in the repository leads somewhere."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest


ROOT = Path(__file__).parents[2]
_LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(\s*<?([^)\s>]+)>?[^)]*\)")
_DEFINITION = re.compile(r"^\[[^\]]+\]:\s*(\S+)", re.M)
_HEADING = re.compile(r"^#{1,6} +(.+?)\s*#*$", re.M)
_OWN_ID = re.compile(r"\{[^}]*#([\w-]+)[^}]*\}\s*$")
_HTML_ID = re.compile(r"<\w+[^>]*\b(?:id|name)=\"([^\"]+)\"")
_FENCED = re.compile(r"^ *(```+|~~~+).*?^ *\1", re.M | re.S)


def pages() -> list[Path]:
    """Return every page that people read here; those of cases are material."""
    found = [*ROOT.glob("docs/**/*.md"), *ROOT.glob("bench/**/README.md")]
    found += [ROOT / f"{name}.md" for name in ("README", "CHANGELOG", "CONTRIBUTING")]
    return sorted(p for p in found if p.is_file() and "cases" not in p.parts)


def links(text: str) -> Iterator[str]:
    """Yield what a page links to, code left out."""
    prose = re.sub(r"(`+).+?\1", "", _FENCED.sub("", text))
    yield from _LINK.findall(prose)
    yield from _DEFINITION.findall(prose)


def anchors(text: str) -> set[str]:
    """Return the anchors of a page, as GitHub and as MkDocs make them."""
    found = set(_HTML_ID.findall(text))
    for line in _HEADING.findall(_FENCED.sub("", text)):
        own = _OWN_ID.search(line)
        if own:
            found.add(own[1])
        heading = _OWN_ID.sub("", line)
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        kept = re.sub(r"[^\w\s-]", "", plain).strip().lower()
        found.add(kept.replace(" ", "-"))
        ascii_only = unicodedata.normalize("NFKD", kept).encode("ascii", "ignore")
        found.add(re.sub(r"[-\s]+", "-", ascii_only.decode()))
    return found


def faults(page: Path) -> Iterator[str]:
    """Yield each link of a page that leads nowhere."""
    for link in links(page.read_text(encoding="utf-8")):
        if re.match(r"[a-z][a-z0-9+.-]*:", link):
            continue  # another site; nothing here uses the network
        place, _, anchor = link.partition("#")
        target = (page.parent / place).resolve() if place else page
        if not target.exists():
            yield f"{link}: there is no such file"
        elif not target.is_relative_to(ROOT):
            yield f"{link}: leads out of the repository"
        elif anchor and anchor not in anchors(target.read_text(encoding="utf-8")):
            yield f"{link}: {target.relative_to(ROOT)} has no such heading"


@pytest.mark.parametrize(
    "page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix()
)
def test_links_lead_somewhere(page: Path) -> None:
    assert list(faults(page)) == []


def test_a_broken_link_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text(
        "# A `b` c\n[x](missing.md) [y](#nowhere) [z](#a-b-c) `[n](no.md)`\n"
        "[w](https://example.org/x)\n\n```text\n[n](no.md)\n```\n\n[r]: gone.md\n",
        encoding="utf-8",
    )
    assert [fault.partition(":")[0] for fault in faults(page)] == [
        "missing.md",
        "#nowhere",
        "gone.md",
    ]


@pytest.mark.skipif(
    importlib.util.find_spec("material") is None
    or importlib.util.find_spec("mkdocs") is None,
    reason="needs MkDocs Material: pip install 'pytest-codegenie[docs]'",
)
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"),
            *("--site-dir", str(tmp_path / "site")),
        ],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    index = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    loaded = re.findall(r"<(?:script|link)[^>]+(?:src|href)=\"(https?:[^\"]+)", index)
    assert loaded == [], "a page loads something from another site"
