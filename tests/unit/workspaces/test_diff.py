"""The diff: every kind of change, whatever a tree holds, and nothing of it is run."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from support_workspaces import Lab
from support_workspaces import listing

from pytest_codegenie.models import ResourceLimits
from pytest_codegenie.workspaces import PatchTooLarge
from pytest_codegenie.workspaces import Workspace
from pytest_codegenie.workspaces import git as workspace_git


Shell = Callable[..., str]

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
    "everything deleted": 'rm -rf "$PWD" || [ -z "$(ls -A)" ]',
    "longest name": "echo 1 > $(printf '%0255d' 0)",
    "control characters": r"echo 1 > $(printf 'a\001\033[31mb\r')",
    "like pathspecs": "echo 1 > ':!y'; mkdir ':'; echo 1 > ':/z'; echo 1 > '*'",
    "like revisions": "echo 1 > HEAD; echo 1 > main; mkdir refs; echo 1 > refs/x",
    "like .git elsewhere": "echo 1 > git~1; mkdir '.git '; echo 1 > '.git /x';"
    r" echo 1 > '.git\x'; echo 1 > '.git::$INDEX_ALLOCATION'",
    "backslashes": r"echo 1 > '..\up'; echo 1 > 'c:\x'",
    "link in place of .gitmodules": "ln -s main.py .gitmodules; echo 1 > new",
    "links in place of git's files": "for x in .gitignore .gitattributes .mailmap;"
    " do ln -sf main.py $x; done",
    "directories in place of git's files": "rm .gitignore .gitattributes;"
    " for x in .gitignore .gitattributes .gitmodules; do mkdir $x; : > $x/x; done",
    "links that lead out or nowhere": "ln -s loop loop; ln -s . dot; ln -s / root;"
    " ln -s ../../.. up; ln -s $(printf '%04000d' 0) long",
    "hard links": "ln main.py hard; echo 1 >> hard",
    "odd modes": "chmod 7777 main.py; chmod 1777 . data; chmod 0000 latin.txt",
    "locks": "touch .git/index.lock .git/HEAD.lock .git/config.lock; echo 1 > new",
    "a bare repository's files": "mkdir objects hooks; echo 'ref: refs/heads/x' > HEAD;"
    " echo 1 > objects/x; echo 1 > hooks/x; printf '[core]\nbare=true\n' > config",
}
#: What no git tree can hold; taking the patch removes it.
LOST = ("sub/.git", "sub/.Git", ".GIT/x", ".gitmodules")


@pytest.mark.parametrize("script", CHANGES.values(), ids=CHANGES.keys())
def test_the_patch_of_a_change_makes_the_same_tree_elsewhere(
    lab: Lab, tmp_path: Path, script: str
) -> None:
    changed, fresh = lab.make(), lab.make()
    lab.shell(changed, script)
    patch = changed.diff(tmp_path / "patch.diff")
    assert patch
    assert (tmp_path / "patch.diff").read_bytes() == patch.encode()
    assert fresh.apply_patch(patch) == (True, "")
    expected = listing(changed.tree)
    assert not set(LOST) & set(expected)
    assert listing(fresh.tree) == expected


def test_no_change_is_no_patch(
    workspace: Workspace, shell: Shell, tmp_path: Path
) -> None:
    shell(
        "touch main.py; mkdir empty; mkdir __pycache__; : > __pycache__/a.pyc",
    )
    assert workspace.diff(tmp_path / "patch.diff") == ""


def test_a_rename_is_a_rename(
    workspace: Workspace, shell: Shell, tmp_path: Path
) -> None:
    shell("mv main.py renamed.py")
    patch = workspace.diff(tmp_path / "patch.diff")
    assert "rename from main.py\nrename to renamed.py\n" in patch


def test_devices_and_sockets_are_left_out(
    workspace: Workspace, shell: Shell, tmp_path: Path
) -> None:
    shell("rm main.py; mkfifo main.py; mkfifo data/pipe")
    with socket.socket(socket.AF_UNIX) as server:
        place = os.open(workspace.tree, os.O_RDONLY)
        server.bind(f"/proc/self/fd/{place}/socket")
        os.close(place)
    patch = workspace.diff(tmp_path / "patch.diff")
    assert "deleted file mode 100644" in patch
    assert "pipe" not in patch
    assert "socket" not in patch


def test_a_tree_that_became_a_link_is_an_empty_tree(
    workspace: Workspace, shell: Shell, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret", encoding="utf-8")
    # Where the tree is a mount inside, it stays a directory, with the link in it.
    shell(f'rm -rf "$PWD" || true; ln -s {outside} "$PWD"')
    patch = workspace.diff(tmp_path / "patch.diff")
    assert "secret" not in patch
    assert "deleted file" in patch
    assert (outside / "secret").exists()


def test_a_tree_deeper_than_any_stack_is_read_and_removed(
    workspace: Workspace, shell: Shell, tmp_path: Path
) -> None:
    place = Path("d")
    for _ in range(1500):
        place /= "d"
    shell(f"mkdir -p {place}; : > {place}/x")
    assert "d/d/d" in workspace.diff(tmp_path / "patch.diff")
    workspace.destroy()
    assert not workspace.tree.parent.exists()


def test_a_patch_that_is_too_large_is_kept_and_refused(
    workspace: Workspace, shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workspace_git, "MAX_PATCH_BYTES", 1000)
    shell("seq 1000 > numbers")
    output = tmp_path / "patch.diff"
    with pytest.raises(PatchTooLarge, match="bytes; at most 1000 are judged") as caught:
        workspace.diff(output)
    assert output.stat().st_size == caught.value.size > 1000


def test_a_huge_sparse_file_is_refused_at_once(lab: Lab, tmp_path: Path) -> None:
    workspace = lab.make(limits=ResourceLimits(file_size=1 << 40))
    lab.shell(workspace, "truncate -s 900G sparse")
    with pytest.raises(PatchTooLarge, match=f"has {900 << 30} bytes"):
        workspace.diff(tmp_path / "patch.diff")


PLANTED = {
    "hooks": "mkdir -p .git/hooks; printf '#!/bin/sh\nEVIL\n' > .git/hooks/pre-commit;"
    " cp .git/hooks/pre-commit .git/hooks/post-index-change; chmod +x .git/hooks/*",
    "hooks path": "git config core.hooksPath ..; printf '#!/bin/sh\nEVIL\n' >"
    " post-index-change; chmod +x post-index-change",
    "fsmonitor": "git config core.fsmonitor 'EVIL; false'",
    "filter": "git config filter.evil.clean 'EVIL; cat';"
    " git config filter.evil.smudge 'EVIL; cat';"
    " git config filter.evil.process 'EVIL'; git config filter.evil.required true;"
    " echo '* filter=evil' > .gitattributes; cp .gitattributes .git/info/attributes",
    "textconv": "git config diff.evil.textconv 'EVIL; cat';"
    " git config diff.evil.command 'EVIL'; git config diff.external 'EVIL';"
    " echo '* diff=evil' > .gitattributes",
    "merge driver": "git config merge.evil.driver 'EVIL';"
    " echo '* merge=evil' > .gitattributes",
    "pager and editor": "git config core.pager 'EVIL'; git config core.editor 'EVIL'",
    "signing": "git config gpg.program 'EVIL'; git config commit.gpgSign true",
    "ssh and credentials": "git config core.sshCommand 'EVIL';"
    " git config credential.helper '!EVIL'; git config core.askPass 'EVIL'",
    "worktree": "git config core.worktree /; git config core.fsmonitor 'EVIL'",
    "include": "printf '[core]\n\tfsmonitor = EVIL\n' > evil.cfg;"
    " git config include.path ../evil.cfg;"
    " git config includeIf.gitdir:/.path $PWD/evil.cfg",
    "alternates": "mkdir -p .git/objects/info;"
    " echo /etc > .git/objects/info/alternates;"
    " git config core.alternateRefsCommand 'EVIL'",
    "submodule": "git init -q sub; git -C sub config core.fsmonitor 'EVIL'; : > sub/x;"
    " printf '[submodule \"sub\"]\n\tpath = sub\n\turl = ./sub\n\tupdate = !EVIL\n'"
    " > .gitmodules; cp .gitmodules .git/config",
    "repository elsewhere": "git config core.fsmonitor 'EVIL'; mv .git other;"
    " ln -s other .git",
    "git in the tree": "printf '#!/bin/sh\nEVIL\n' > git; chmod +x git; cp git env;"
    " cp git sh",
    "home": "printf '[core]\n\tfsmonitor = EVIL\n' > ~/.gitconfig; mkdir -p"
    " ~/.config/git; cp ~/.gitconfig ~/.config/git/config",
}


@pytest.mark.parametrize("script", PLANTED.values(), ids=PLANTED.keys())
def test_no_program_that_a_tree_names_is_run_by_us(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    evil = tmp_path / "evil"
    monkeypatch.setenv("HOME", str(tmp_path))
    changed, fresh = lab.make(), lab.make()
    planted = script.replace("EVIL", f"touch {evil}")
    lab.shell(changed, f"{planted}; echo 1 >> main.py")
    evil.unlink(missing_ok=True)  # the agent's own git may have run it
    patch = changed.diff(tmp_path / "patch.diff")
    assert "main.py" in patch
    assert fresh.apply_patch(patch)[0]
    assert fresh.diff(tmp_path / "again.diff") == patch
    assert not evil.exists()
