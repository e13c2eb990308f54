"""One name can be spelt in more than one way in Unicode.

All names are written with escapes, so that no editor changes their spelling.
"""

import pytest

from driftmap import (
    Copy,
    Delete,
    Entry,
    Excludes,
    Listing,
    Move,
    Update,
    compare,
    parse,
    render,
)
from driftmap.cli import main
from driftmap.listing import dump

NAS = "M\u00fcller.txt"
MAC = "Mu\u0308ller.txt"


def tree(files: dict[str, str]) -> Listing:
    return Listing(Entry(digest, 1, path) for path, digest in files.items())


SAME = {
    "umlaut": (NAS, MAC),
    "folder": ("Vertr\u00e4ge/2024.pdf", "Vertra\u0308ge/2024.pdf"),
    "hangul": ("\ud55c\uae00.txt", "\u1112\u1161\u11ab\u1100\u1173\u11af.txt"),
    "order-of-marks": ("\u1ead.txt", "a\u0302\u0323.txt"),
    "angstrom-sign": ("\u00c5.txt", "\u212b.txt"),
    "never-composed": ("\u0958.txt", "\u0915\u093c.txt"),
}

DIFFERENT = {
    "accent": ("caf\u00e9.txt", "cafe.txt"),
    "case": ("\u00dcber.txt", "\u00fcber.txt"),
    "sharp-s": ("Stra\u00dfe.txt", "Strasse.txt"),
    "ligature": ("\ufb01le.txt", "file.txt"),
    "superscript": ("m\u00b2.txt", "m2.txt"),
    "full-width": ("\uff21.txt", "A.txt"),
    "no-break-space": ("a\u00a0b.txt", "a b.txt"),
    "dotless-i": ("\u0131.txt", "i.txt"),
}

same = pytest.mark.parametrize(("one", "other"), SAME.values(), ids=SAME.keys())
different = pytest.mark.parametrize(
    ("one", "other"), DIFFERENT.values(), ids=DIFFERENT.keys()
)


@same
def test_the_same_file_needs_no_step(one, other):
    assert compare(tree({one: "1"}), tree({other: "1"})) == []
    assert compare(tree({other: "1"}), tree({one: "1"})) == []


@same
def test_a_changed_file_is_updated_under_the_names_it_has(one, other):
    assert compare(tree({one: "2"}), tree({other: "1"})) == [Update(one, other)]
    assert compare(tree({other: "2"}), tree({one: "1"})) == [Update(other, one)]


@different
def test_names_that_only_look_alike_are_different_files(one, other):
    steps = compare(tree({one: "1"}), tree({other: "2"}))
    assert steps == [Delete(other), Copy(one)]
    both = tree({one: "1", other: "2"})
    assert compare(both, tree({})) == [Copy(path) for path in sorted([one, other])]


def test_a_file_that_is_gone_is_deleted_under_the_name_the_target_knows():
    assert compare(tree({}), tree({MAC: "1"})) == [Delete(MAC)]


def test_a_new_file_is_copied_under_the_name_of_the_source():
    assert compare(tree({MAC: "1"}), tree({})) == [Copy(MAC)]


def test_a_move_names_each_file_as_its_tree_does():
    steps = compare(tree({"Gr\u00f6\u00dfe.txt": "1"}), tree({MAC: "1"}))
    assert steps == [Move(MAC, "Gr\u00f6\u00dfe.txt")]


def test_a_file_that_stays_is_not_moved_elsewhere():
    steps = compare(tree({NAS: "1", "copy.txt": "1"}), tree({MAC: "1"}))
    assert steps == [Copy("copy.txt")]


def test_the_plan_of_the_evening_after_an_edit():
    nas = parse(b"01\t5\tCaf\xc3\xa9/Men\xc3\xbc.odt\n".decode())
    mac = parse(b"02\t5\tCafe\xcc\x81/Menu\xcc\x88.odt\n".decode())
    expected = b"update  Caf\xc3\xa9/Men\xc3\xbc.odt -> Cafe\xcc\x81/Menu\xcc\x88.odt"
    assert render(compare(nas, mac)).encode() == expected


def test_two_spellings_in_the_source_are_two_files():
    source = tree({NAS: "1", MAC: "2"})
    steps = compare(source, tree({}))
    assert sorted(map(str, steps)) == sorted([str(Copy(MAC)), str(Copy(NAS))])
    assert compare(source, tree({NAS: "1"})) == [Copy(MAC)]
    assert compare(source, tree({MAC: "2"})) == [Copy(NAS)]


def test_two_spellings_in_the_target_are_two_files():
    target = tree({NAS: "1", MAC: "2"})
    steps = compare(tree({}), target)
    assert sorted(map(str, steps)) == sorted([str(Delete(MAC)), str(Delete(NAS))])
    assert compare(tree({NAS: "1"}), target) == [Delete(MAC)]
    assert compare(tree({MAC: "2"}), target) == [Delete(NAS)]


def test_two_spellings_in_both_trees_are_compared_each_with_itself():
    source = tree({NAS: "1", MAC: "2"})
    assert compare(source, tree({MAC: "2", NAS: "1"})) == []
    assert compare(source, tree({MAC: "3", NAS: "1"})) == [Update(MAC, MAC)]


def test_a_listing_keeps_every_name_as_it_is():
    text = f"aa\t1\t{MAC}\nbb\t1\t{NAS}\n"
    assert [entry.path for entry in parse(text)] == [MAC, NAS]
    assert dump(parse(text)) == text


PRESENTATIONS = ("Pr\u00e4sentationen", "Pra\u0308sentationen")


@pytest.mark.parametrize("typed", PRESENTATIONS, ids=["nfc-pattern", "nfd-pattern"])
@pytest.mark.parametrize("listed", PRESENTATIONS, ids=["nfc-path", "nfd-path"])
def test_a_pattern_leaves_out_either_spelling(typed, listed):
    for pattern in (f"{typed}/", f"/{typed}", f"{typed}/*.odp", f"{typed[:4]}*"):
        assert Excludes([pattern]).match(f"{listed}/a.odp"), pattern
        assert not Excludes([pattern]).match("Praesentationen/a.odp"), pattern


@pytest.mark.parametrize("name", [NAS, MAC], ids=["nas", "mac"])
def test_a_question_mark_stands_for_one_letter_in_either_spelling(name):
    assert Excludes(["M?ller.txt"]).match(name)
    assert Excludes(["M[\u00fcu]ller.txt"]).match(name)
    assert not Excludes(["Muller.txt"]).match(name)


def test_a_pattern_does_not_leave_out_what_only_looks_alike():
    assert not Excludes(["\ufb01le.txt"]).match("file.txt")
    assert not Excludes(["m2.txt"]).match("m\u00b2.txt")


def test_an_excluded_folder_is_left_alone_in_both_trees(tmp_path, capsys):
    nas, mac = PRESENTATIONS
    (tmp_path / "nas").write_text(f"aa\t1\t{nas}/a.odp\n", encoding="utf-8")
    (tmp_path / "mac").write_text(f"bb\t1\t{mac}/b.odp\n", encoding="utf-8")
    (tmp_path / "excludes").write_text(f"{nas}/\n", encoding="utf-8")
    argv = [str(tmp_path / name) for name in ("nas", "mac", "excludes")]
    argv.insert(2, "--exclude-from")
    assert main(argv) == 0
    assert capsys.readouterr().out == ""
