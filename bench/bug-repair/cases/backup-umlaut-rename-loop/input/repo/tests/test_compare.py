from driftmap import Copy, Delete, Entry, Excludes, Listing, Move, Update, compare


def tree(**files: str) -> Listing:
    """A listing of ``name=digest``; the names get ``.txt``."""
    return Listing(Entry(digest, 1, f"{name}.txt") for name, digest in files.items())


def test_equal_trees_need_no_step():
    assert compare(tree(a="1", b="2"), tree(b="2", a="1")) == []


def test_new_changed_and_gone():
    steps = compare(tree(a="1", b="2"), tree(b="3", c="4"))
    assert steps == [Delete("c.txt"), Update("b.txt", "b.txt"), Copy("a.txt")]


def test_a_renamed_file_is_moved():
    assert compare(tree(b="1"), tree(a="1")) == [Move("a.txt", "b.txt")]


def test_of_two_copies_one_is_moved_and_one_is_copied():
    steps = compare(tree(b="1", c="1"), tree(a="1"))
    assert steps == [Move("a.txt", "b.txt"), Copy("c.txt")]


def test_case_matters():
    steps = compare(tree(Notes="1"), tree(notes="2"))
    assert steps == [Delete("notes.txt"), Copy("Notes.txt")]


def test_excluded_files_count_in_neither_tree():
    assert compare(tree(a="1"), tree(b="2"), Excludes(["*.txt"])) == []
