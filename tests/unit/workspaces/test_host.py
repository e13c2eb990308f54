"""The host workspace: one commit, every kind of change, nothing of the agent's runs."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.processes import Limits
from pytest_codegenie.trees import walk
from pytest_codegenie.workspaces import Base
from pytest_codegenie.workspaces import PatchTooLarge
from pytest_codegenie.workspaces import fetch_tree
from pytest_codegenie.workspaces import git as workspace_git
from pytest_codegenie.workspaces import make_base
from pytest_codegenie.workspaces.host import HostWorkspace


FILES = {
    "main.py": b"print('hello')\n" * 20,
    "run.sh": b"#!/bin/sh\n",
    "data/table.bin": bytes(range(256)) * 4,
    "data/dos.txt": b"one\r\ntwo\r\n",
    "latin.txt": "caf\u00e9\n".encode("latin-1"),
    ".gitignore": b"*.log\n",
    ".gitattributes": b"*.txt text eol=lf\n*.py filter=evil diff=evil ident\n",
    "kept.log": b"tracked although ignored\n",
}


@pytest.fixture
def base(tmp_path: Path) -> Base:
    tree = tmp_path / "base"
    for name, content in FILES.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_bytes(content)
    (tree / "run.sh").chmod(0o755)
    (tree / "link").symlink_to("main.py")
    return make_base(tree, tmp_path / "base.git")


@pytest.fixture
def make_workspace(base: Base, tmp_path: Path) -> Callable[[], HostWorkspace]:
    def make() -> HostWorkspace:
        workspace = HostWorkspace()
        directory = tmp_path / f"workspace-{len(list(tmp_path.iterdir()))}"
        directory.mkdir()
        workspace.prepare(base, directory)
        return workspace

    return make


@pytest.fixture
def workspace(make_workspace: Callable[[], HostWorkspace]) -> HostWorkspace:
    return make_workspace()


def git(workspace: HostWorkspace, *arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments],
        cwd=workspace.tree,
        check=True,
        capture_output=True,
        text=True,
    ).stdout


def shell(workspace: HostWorkspace, script: str) -> None:
    done = workspace.exec(
        ["/bin/sh", "-ec", script], env=workspace.variables("agent"), limits=Limits()
    )
    assert done.exit_code == 0, done.stderr


def listing(tree: Path) -> dict[str, tuple[str, bytes]]:
    """Return path to (kind, content) of a tree, its own ``.git`` left out."""
    found = {}
    for path, entry in walk(tree):
        if path == ".git" or path.startswith(".git/"):
            continue
        if entry.is_symlink():
            found[path] = ("link", os.fsencode(Path(entry.path).readlink()))
        elif entry.is_file():
            kind = "executable" if entry.stat().st_mode & 0o100 else "file"
            found[path] = (kind, Path(entry.path).read_bytes())
    return found


# -- what an agent finds ---------------------------------------------------------


def test_a_workspace_has_one_commit_and_no_past(workspace: HostWorkspace) -> None:
    assert git(workspace, "rev-list", "--all", "--count") == "1\n"
    assert git(workspace, "log", "--format=%an %ae %aI %s") == (
        "codegenie codegenie@localhost 2020-01-01T00:00:00+00:00 Base\n"
    )
    assert git(workspace, "status", "--porcelain") == ""
    for nothing in (
        ["remote"],
        ["tag"],
        ["stash", "list"],
        ["reflog", "show", "--all"],
    ):
        assert git(workspace, *nothing) == ""
    assert git(workspace, "fsck", "--unreachable", "--no-reflogs") == ""
    assert not (workspace.tree / ".git" / "logs").exists()
    assert not (workspace.tree / ".git" / "hooks").exists()
    assert str(workspace.tree.parents[1] / "base") not in git(workspace, "config", "-l")


def test_two_bases_of_the_same_files_have_the_same_commit(
    base: Base, tmp_path: Path
) -> None:
    again = make_base(base.tree, tmp_path / "again.git")
    heads = [(one.git_dir / "refs/heads/main").read_text() for one in (base, again)]
    assert heads[0] == heads[1]


def test_no_private_variable_reaches_an_agent(
    workspace: HostWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GIT_DIR", "PYTHONPATH", "PYTEST_ADDOPTS", "CODEGENIE_OUT"):
        monkeypatch.setenv(name, "secret")
    monkeypatch.setenv("API_TOKEN", "the agent's")
    environment = workspace.variables("agent")
    assert "secret" not in environment.values()
    assert environment["API_TOKEN"] == "the agent's"
    assert "API_TOKEN" not in workspace.variables("judge")


# -- the diff --------------------------------------------------------------------

CHANGES = {
    "edit": "echo 1 >> main.py",
    "binary": r"printf '\000\377' >> data/table.bin",
    "new": "mkdir -p a/b; echo 1 > a/b/c",
    "new binary": "head -c 3000 /dev/zero > zeros",
    "deleted": "rm main.py link",
    "renamed": "mkdir src; mv main.py src/renamed.py",
    "mode on": "chmod +x main.py",
    "mode off": "chmod -x run.sh",
    "link": "ln -s /etc/passwd outside; ln -sf data link",
    "file to link": "rm main.py; ln -s run.sh main.py",
    "link to file": "rm link; echo 1 > link",
    "file to directory": "rm main.py; mkdir main.py; echo 1 > main.py/x",
    "directory to file": "rm -r data; echo 1 > data",
    "line ends": r"printf 'one\ntwo\r\n' > data/dos.txt; printf 'a\r\n' > new.txt",
    "no newline at end": "printf x > main.py",
    "not UTF-8": r"printf 'th\351\n' >> latin.txt; echo 2 >> main.py",
    "empty file": ": > empty; : > main.py",
    "tracked and ignored": "echo 2 >> kept.log",
    "attributes": "echo '* -diff binary eol=crlf' > .gitattributes; "
    " echo 1 >> latin.txt",
    "newline in name": "echo 1 > 'new\nline'; echo 1 > 'tab\tname'",
    "dash in front": "echo 1 > -rf; mkdir -- --help; echo 1 > --help/x",
    "quotes": "echo 1 > 'a \"b\" c'; echo 1 > ' spaces '",
    "name not UTF-8": r"echo 1 > $(printf 'b\351te')",
    "nested repository": "git init -q sub; echo 1 > sub/x; cd sub; git add x;"
    " git -c user.name=a -c user.email=a@b commit -qm x",
    "nested repository without commit": "git init -q sub; echo 1 > sub/x",
    "nested .git file": "mkdir sub; echo 'gitdir: ../.git' > sub/.git; echo 1 > sub/x",
    "nested .git link": "mkdir sub; ln -s ../.git sub/.git; echo 1 > sub/x",
    "other spelling": "mkdir .GIT sub; echo 1 > .GIT/x; echo 1 > sub/.Git; echo 1 > y",
    "modes that shut out": "mkdir shut; echo 1 > shut/x; chmod 0 shut/x shut main.py;"
    " chmod 0 .",
    "commits": "echo 1 >> main.py; git add -A; git -c user.name=a -c user.email=a@b"
    " commit -qm own; echo 2 > more",
    "no repository left": "rm -rf .git; echo 1 >> main.py",
    "repository spoiled": "for x in HEAD index; do echo junk > .git/$x; done;"
    " echo 1 >> main.py",
    "git is a file": "rm -rf .git; echo junk > .git; echo 1 >> main.py",
    "everything deleted": 'rm -rf "$PWD"',
}
#: What no git tree can hold; taking the patch removes it.
LOST = ("sub/.git", "sub/.Git", ".GIT/x")


@pytest.mark.parametrize("script", CHANGES.values(), ids=CHANGES.keys())
def test_the_patch_of_a_change_makes_the_same_tree_elsewhere(
    make_workspace: Callable[[], HostWorkspace], tmp_path: Path, script: str
) -> None:
    changed, fresh = make_workspace(), make_workspace()
    shell(changed, script)
    patch = changed.diff(tmp_path / "patch.diff")
    assert patch
    assert (tmp_path / "patch.diff").read_bytes() == patch.encode()
    assert fresh.apply_patch(patch) == (True, "")
    expected = listing(changed.tree)
    assert not set(LOST) & set(expected)
    assert listing(fresh.tree) == expected


def test_no_change_is_no_patch(workspace: HostWorkspace, tmp_path: Path) -> None:
    shell(
        workspace,
        "touch main.py; mkdir empty; mkdir __pycache__; : > __pycache__/a.pyc",
    )
    assert workspace.diff(tmp_path / "patch.diff") == ""


def test_a_rename_is_a_rename(workspace: HostWorkspace, tmp_path: Path) -> None:
    shell(workspace, "mv main.py renamed.py")
    patch = workspace.diff(tmp_path / "patch.diff")
    assert "rename from main.py\nrename to renamed.py\n" in patch


def test_devices_and_sockets_are_left_out(
    workspace: HostWorkspace, tmp_path: Path
) -> None:
    shell(workspace, "rm main.py; mkfifo main.py; mkfifo data/pipe")
    with socket.socket(socket.AF_UNIX) as server:
        place = os.open(workspace.tree, os.O_RDONLY)
        server.bind(f"/proc/self/fd/{place}/socket")
        os.close(place)
    patch = workspace.diff(tmp_path / "patch.diff")
    assert "deleted file mode 100644" in patch
    assert "pipe" not in patch
    assert "socket" not in patch


def test_a_tree_that_became_a_link_is_an_empty_tree(
    workspace: HostWorkspace, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret", encoding="utf-8")
    shell(workspace, f'rm -rf "$PWD"; ln -s {outside} "$PWD"')
    patch = workspace.diff(tmp_path / "patch.diff")
    assert "secret" not in patch
    assert "deleted file" in patch
    assert (outside / "secret").exists()


def test_a_tree_deeper_than_any_stack_is_read_and_removed(
    workspace: HostWorkspace, tmp_path: Path
) -> None:
    place = Path("d")
    for _ in range(1500):
        place /= "d"
    shell(workspace, f"mkdir -p {place}; : > {place}/x")
    assert "d/d/d" in workspace.diff(tmp_path / "patch.diff")
    workspace.destroy()
    assert not workspace.tree.parent.exists()


def test_a_patch_that_is_too_large_is_kept_and_refused(
    workspace: HostWorkspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workspace_git, "MAX_PATCH_BYTES", 1000)
    shell(workspace, "seq 1000 > numbers")
    output = tmp_path / "patch.diff"
    with pytest.raises(PatchTooLarge, match="bytes; at most 1000 are judged") as caught:
        workspace.diff(output)
    assert output.stat().st_size == caught.value.size > 1000


def test_a_huge_sparse_file_is_refused_at_once(
    workspace: HostWorkspace, tmp_path: Path
) -> None:
    shell(workspace, "truncate -s 900G sparse")
    with pytest.raises(PatchTooLarge, match=f"has {900 << 30} bytes"):
        workspace.diff(tmp_path / "patch.diff")


PLANTED = {
    "hooks": "mkdir -p .git/hooks; printf '#!/bin/sh\nEVIL\n' > .git/hooks/pre-commit;"
    " cp .git/hooks/pre-commit .git/hooks/post-index-change; chmod +x .git/hooks/*",
    "fsmonitor": "git config core.fsmonitor 'EVIL; false'",
    "filter": "git config filter.evil.clean 'EVIL; cat';"
    " git config filter.evil.smudge 'EVIL; cat'; echo '* filter=evil' > .gitattributes",
    "textconv": "git config diff.evil.textconv 'EVIL; cat';"
    " git config diff.evil.command 'EVIL'; git config diff.external 'EVIL';"
    " echo '* diff=evil' > .gitattributes",
    "pager and editor": "git config core.pager 'EVIL'; git config core.editor 'EVIL'",
    "hooks path": "git config core.hooksPath ..; printf '#!/bin/sh\nEVIL\n' >"
    " post-index-change; chmod +x post-index-change",
    "worktree": "git config core.worktree /; git config core.fsmonitor 'EVIL'",
}


@pytest.mark.parametrize("script", PLANTED.values(), ids=PLANTED.keys())
def test_no_program_that_a_tree_names_is_run_by_us(
    make_workspace: Callable[[], HostWorkspace], tmp_path: Path, script: str
) -> None:
    evil = tmp_path / "evil"
    changed, fresh = make_workspace(), make_workspace()
    shell(changed, script.replace("EVIL", "touch EVIL") + "; echo 1 >> main.py")
    evil.unlink(missing_ok=True)  # the agent's own git may have run it
    patch = changed.diff(tmp_path / "patch.diff")
    assert "main.py" in patch
    assert fresh.apply_patch(patch)[0]
    assert fresh.diff(tmp_path / "again.diff") == patch
    assert not evil.exists()


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
    workspace: HostWorkspace, patch: str, words: str
) -> None:
    before = listing(workspace.tree)
    good = "" if words == "No valid patches" else new_file("good")
    applied, said = workspace.apply_patch(good + patch)
    assert not applied
    assert words in said
    assert listing(workspace.tree) == before
    assert not list(workspace.tree.parent.rglob("evil"))


@pytest.mark.parametrize("ending", ["", "\n", "\n\n"])
def test_a_patch_may_lack_its_last_newline(
    workspace: HostWorkspace, ending: str
) -> None:
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
    workspace: HostWorkspace, tmp_path: Path, obstacle: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "victim").write_text("untouched", encoding="utf-8")
    source = tmp_path / "test_x.py"
    source.write_text("hidden", encoding="utf-8")
    source.chmod(0o444)
    shell(workspace, obstacle.replace("{out}", str(outside)))
    workspace.put({"tests/test_x.py": source, "main.py": None})
    target = workspace.tree / "tests" / "test_x.py"
    assert not target.is_symlink()
    assert not target.parent.is_symlink()
    assert target.read_text(encoding="utf-8") == "hidden"
    assert target.stat().st_mode & 0o777 == 0o644
    assert not (workspace.tree / "main.py").exists()
    assert [path.name for path in outside.iterdir()] == ["victim"]
    assert (outside / "victim").read_text(encoding="utf-8") == "untouched"


def test_put_copies_a_link_as_a_link(workspace: HostWorkspace, tmp_path: Path) -> None:
    (tmp_path / "source").symlink_to("main.py")
    workspace.put({"run.sh": tmp_path / "source"})
    assert (workspace.tree / "run.sh").readlink() == Path("main.py")


@pytest.mark.parametrize("name", ["../x", "/x", "a/../../x", ""])
def test_put_refuses_a_path_out_of_the_tree(
    workspace: HostWorkspace, tmp_path: Path, name: str
) -> None:
    with pytest.raises(ValueError, match="is no path inside of the tree"):
        workspace.put({name: tmp_path / "base" / "main.py"})


# -- the end ---------------------------------------------------------------------


def test_destroy_removes_what_is_shut_and_leaves_what_is_outside(
    workspace: HostWorkspace, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("", encoding="utf-8")
    shell(
        workspace,
        f"mkdir -p a/b; : > a/b/c; ln -s {outside} a/out; chmod 0 a/b; chmod 0500 a;"
        "chmod 0 data/table.bin; chmod 0 .",
    )
    workspace.destroy()
    assert not workspace.tree.parent.exists()
    assert (outside / "kept").exists()
    workspace.destroy()


def test_a_workspace_that_cannot_be_made_is_unavailable(
    base: Base, tmp_path: Path
) -> None:
    shutil.rmtree(base.git_dir)
    with pytest.raises(WorkspaceUnavailable, match=r"cannot be made in .*/none"):
        HostWorkspace().prepare(base, tmp_path / "none")


def test_git_that_is_missing_is_said(
    base: Base, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(WorkspaceUnavailable, match="git is not installed; install it"):
        make_base(base.tree, tmp_path / "other.git")


# -- fetching --------------------------------------------------------------------


@pytest.fixture
def bundle(tmp_path: Path) -> tuple[Path, list[str]]:
    """A bundle of two commits: (its path, their names)."""
    origin = tmp_path / "origin"
    origin.mkdir()

    def run(*arguments: str) -> str:
        identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
        return subprocess.run(
            ["git", *identity, *arguments],
            cwd=origin,
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()

    run("init", "--quiet", "--initial-branch=trunk")
    names = []
    for text in ("one\r\n", "two\r\n"):
        (origin / "file.txt").write_bytes(text.encode())
        (origin / ".gitattributes").write_text("* text=auto eol=lf\n", encoding="utf-8")
        run("add", "--all")
        run("-c", "core.autocrlf=false", "commit", "--quiet", "--message", text)
        names.append(run("rev-parse", "HEAD"))
    run("bundle", "create", "--quiet", str(tmp_path / "bundle"), "--all")
    return tmp_path / "bundle", names


def test_any_commit_of_a_bundle_can_be_the_base(
    bundle: tuple[Path, list[str]], tmp_path: Path
) -> None:
    path, names = bundle
    for number, text in enumerate(("one\n", "two\n")):
        tree = fetch_tree(str(path), names[number], tmp_path / f"fetched-{number}")
        assert (tree / "file.txt").read_bytes().replace(b"\r", b"") == text.encode()
        assert not (tree / ".git").exists()
        assert [entry.name for entry in tree.parent.iterdir()] == [tree.name]


@pytest.mark.parametrize(
    ("source", "commit", "words"),
    [
        ("BUNDLE", "0" * 40, "has no commit '0000"),
        ("BUNDLE", "--orphan", "has no commit '--orphan'"),
        ("--upload-pack=touch EVIL", "main", "git fetch: "),
        ("ext::sh -c 'touch EVIL'", "main", "git fetch: .*'ext' not allowed"),
        ("BUNDLE.missing", "main", "git fetch: .*does not"),
    ],
)
def test_what_cannot_be_fetched_is_unavailable_and_runs_nothing(
    bundle: tuple[Path, list[str]], tmp_path: Path, source: str, commit: str, words: str
) -> None:
    evil = tmp_path / "evil"
    source = source.replace("BUNDLE", str(bundle[0])).replace("EVIL", str(evil))
    with pytest.raises(WorkspaceUnavailable, match=f"(?s){words}"):
        fetch_tree(source, commit, tmp_path / "fetched")
    assert not evil.exists()
