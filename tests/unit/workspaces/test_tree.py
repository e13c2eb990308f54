"""The tree of a workspace: one commit, files put into it, patches, and its end."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from support_workspaces import Lab
from support_workspaces import listing

from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.workspaces import Base
from pytest_codegenie.workspaces import Workspace


Shell = Callable[..., str]


# -- what an agent finds ---------------------------------------------------------


def test_a_workspace_has_one_commit_and_no_past(
    workspace: Workspace, shell: Shell
) -> None:
    assert shell("git rev-list --all --count") == "1\n"
    assert shell("git log --format='%an %ae %aI %s'") == (
        "codegenie codegenie@localhost 2020-01-01T00:00:00+00:00 Base\n"
    )
    assert shell("git status --porcelain") == ""
    for nothing in ("remote", "tag", "stash list", "reflog show --all"):
        assert shell(f"git {nothing}") == ""
    assert shell("git for-each-ref --format='%(refname)'") == "refs/heads/main\n"
    assert shell("git fsck --unreachable --no-reflogs") == ""
    git_dir = workspace.tree / ".git"
    for nothing in ("logs", "hooks", "packed-refs", "ORIG_HEAD", "FETCH_HEAD"):
        assert not (git_dir / nothing).exists()
    assert not (git_dir / "objects" / "info" / "alternates").exists()
    assert str(workspace.tree.parents[1] / "base") not in shell("git config -l")


def test_a_workspace_has_the_files_and_modes_of_the_base(
    workspace: Workspace, base: Base, shell: Shell
) -> None:
    assert listing(workspace.tree) == listing(base.tree)
    assert shell("./run.sh; cat link; ls -A") == (
        "print('hello')\n"
        * 20
        + ".git\n.gitattributes\n.gitignore\ndata\nkept.log\nlatin.txt\nlink\nmain.py\n"
        "run.sh\n"
    )


def test_two_workspaces_of_a_base_share_nothing(lab: Lab, base: Base) -> None:
    before = listing(base.tree)
    first, second = lab.make(), lab.make()
    lab.shell(first, "echo 1 > main.py; git config a.b c; rm -r data; : > new")
    assert listing(second.tree) == listing(base.tree) == before
    assert "a.b" not in lab.shell(second, "git config -l")


def test_the_scratch_directory_is_there_for_both_sides(
    workspace: Workspace, shell: Shell
) -> None:
    request = workspace.scratch / "request"
    request.write_text("from us", encoding="utf-8")
    inside = workspace.inside(request)
    assert shell(f"cat {inside}; printf 'from them' > {inside}") == "from us"
    assert request.read_text(encoding="utf-8") == "from them"


def test_programs_start_in_the_tree_by_the_name_that_is_told(
    workspace: Workspace, shell: Shell
) -> None:
    assert shell("pwd -P").strip() == workspace.inside(workspace.tree)
    assert workspace.inside(workspace.tree / "main.py") == (
        f"{workspace.inside(workspace.tree)}/main.py"
    )


# -- applying a patch ------------------------------------------------------------


def new_file(path: str, mode: str = "100644") -> str:
    return (
        f"diff --git a/{path} b/{path}\nnew file mode {mode}\n--- /dev/null\n"
        f"+++ b/{path}\n@@ -0,0 +1 @@\n+evil\n"
    )


REFUSED = {
    "no patch": ("hello", "No valid patches"),
    "other text": (
        "--- a/main.py\n+++ b/main.py\n@@ -1 +1 @@\n-other\n+x\n",
        "main.py",
    ),
    "missing file": (
        "--- a/none.py\n+++ b/none.py\n@@ -1 +1 @@\n-other\n+x\n",
        "none.py",
    ),
    "parent": (new_file("../evil"), "invalid path '../evil'"),
    "inner parent": (new_file("data/../../evil"), "invalid path"),
    "absolute": (new_file("/evil"), "invalid path '/evil'"),
    "git directory": (new_file(".git/hooks/evil"), "invalid path '.git/hooks/evil'"),
    "nested git directory": (new_file("data/.git/evil"), "invalid path"),
    "spelled otherwise": (new_file(".GIT/evil"), "invalid path '.GIT/evil'"),
    "through a new link": (
        "diff --git a/out b/out\nnew file mode 120000\n--- /dev/null\n+++ b/out\n"
        "@@ -0,0 +1 @@\n+..\n\\ No newline at end of file\n" + new_file("out/evil"),
        "beyond a symbolic link",
    ),
    "through an old link": (new_file("link/evil"), "link/evil"),
    "over a file": (new_file("main.py"), "already exists"),
    "truncated": (new_file("evil")[:-8], "patch"),
}


@pytest.mark.parametrize(("patch", "words"), REFUSED.values(), ids=REFUSED.keys())
def test_a_patch_is_applied_whole_or_not_at_all(
    workspace: Workspace, patch: str, words: str
) -> None:
    before = listing(workspace.tree)
    good = "" if words == "No valid patches" else new_file("good")
    applied, said = workspace.apply_patch(good + patch)
    assert not applied
    assert words in said
    assert listing(workspace.tree) == before
    assert not list(workspace.tree.parent.rglob("evil"))


@pytest.mark.parametrize("ending", ["", "\n", "\n\n"])
def test_a_patch_may_lack_its_last_newline(workspace: Workspace, ending: str) -> None:
    assert workspace.apply_patch(new_file("good").rstrip("\n") + ending) == (True, "")
    assert (workspace.tree / "good").read_text(encoding="utf-8") == "evil\n"


# -- putting files ---------------------------------------------------------------


@pytest.mark.parametrize(
    "obstacle",
    [
        "ln -s {out} tests",
        "mkdir tests; ln -s {out}/victim tests/test_x.py",
        "mkdir -p tests/test_x.py; : > tests/test_x.py/y; chmod 0 tests/test_x.py",
        "ln -s nowhere tests",
        ": > tests",
        "true",
    ],
)
def test_put_writes_into_the_tree_whatever_is_in_the_way(
    workspace: Workspace, shell: Shell, tmp_path: Path, obstacle: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "victim").write_text("untouched", encoding="utf-8")
    source = tmp_path / "test_x.py"
    source.write_text("hidden", encoding="utf-8")
    source.chmod(0o444)
    shell(obstacle.replace("{out}", str(outside)))
    workspace.put({"tests/test_x.py": source, "main.py": None})
    target = workspace.tree / "tests" / "test_x.py"
    assert not target.is_symlink()
    assert not target.parent.is_symlink()
    assert target.read_text(encoding="utf-8") == "hidden"
    assert target.stat().st_mode & 0o777 == 0o644
    assert not (workspace.tree / "main.py").exists()
    assert [path.name for path in outside.iterdir()] == ["victim"]
    assert (outside / "victim").read_text(encoding="utf-8") == "untouched"


def test_put_copies_a_link_as_a_link(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "source").symlink_to("main.py")
    workspace.put({"run.sh": tmp_path / "source"})
    assert (workspace.tree / "run.sh").readlink() == Path("main.py")


@pytest.mark.parametrize("name", ["../x", "/x", "a/../../x", ""])
def test_put_refuses_a_path_out_of_the_tree(
    workspace: Workspace, tmp_path: Path, name: str
) -> None:
    with pytest.raises(ValueError, match="is no path inside of the tree"):
        workspace.put({name: tmp_path / "base" / "main.py"})


# -- the end ---------------------------------------------------------------------


def test_destroy_removes_what_is_shut_and_leaves_what_is_outside(
    workspace: Workspace, shell: Shell, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("", encoding="utf-8")
    shell(
        f"mkdir -p a/b; : > a/b/c; ln -s {outside} a/out; chmod 0 a/b; chmod 0500 a;"
        "chmod 0 data/table.bin; chmod 0 .",
    )
    workspace.destroy()
    assert not workspace.tree.parent.exists()
    assert (outside / "kept").exists()
    workspace.destroy()


def test_a_workspace_that_cannot_be_made_is_unavailable(lab: Lab, base: Base) -> None:
    shutil.rmtree(base.git_dir)
    with pytest.raises(WorkspaceUnavailable, match=r"cannot be made in .*/lab/"):
        lab.make()
