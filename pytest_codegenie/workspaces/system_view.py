"""What a sandbox shows of the machine, as options of bubblewrap.

In the place of ``/etc`` stands a directory of ours, with copies of what programs need
and with who and where they are. It is made once and mounted whole: each mount, and each
file of a workspace, is a share of what a start costs.
"""

from __future__ import annotations

import functools
import json
import os
import stat
import tempfile
from collections.abc import Iterable
from collections.abc import Iterator
from pathlib import Path

from pytest_codegenie.hashing import hash_bytes
from pytest_codegenie.trees import remove_tree
from pytest_codegenie.workspaces.layout import HOME
from pytest_codegenie.workspaces.layout import TEMPORARY


#: User and group that programs inside are.
USER = 1000

#: Of the root directory: links on most systems today, directories on others.
SYSTEM = ("/bin", "/lib", "/lib32", "/lib64", "/libx32", "/sbin")
#: What of /etc programs need; the rest is nobody's business.
_FILES = (
    "ld.so.cache",
    "ld.so.conf",
    "localtime",
    "mime.types",
    "nsswitch.conf",
    "os-release",
    "protocols",
    "services",
    "ssl/openssl.cnf",
    "timezone",
)
_DIRECTORIES = ("alternatives", "fonts", "pki/ca-trust", "pki/tls", "ssl/certs")
#: Who and where a program is.
_OWN_FILES = {
    "group": f"root:x:0:\nagent:x:{USER}:\nnogroup:x:65534:\n",
    "hostname": "sandbox\n",
    "hosts": "127.0.0.1 localhost sandbox\n::1 localhost\n",
    "passwd": (
        "root:x:0:0:root:/root:/usr/sbin/nologin\n"
        f"agent:x:{USER}:{USER}:agent:{HOME}:/bin/bash\n"
        "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
    ),
}


@functools.cache
def make_etc(cache: Path, hosts: str = "") -> Path:
    """Return the directory that is ``/etc`` inside; it is kept for later runs.

    Args:
        cache: Where it is kept, by the digest of its content.
        hosts: Further lines of ``/etc/hosts``.

    Raises:
        OSError: It cannot be written.
    """
    files = dict(_etc_files(hosts))
    words = [[name, content.hex()] for name, content in sorted(files.items())]
    words += [[name] for name in _shared_directories()]
    digest = hash_bytes(json.dumps(words).encode()).rpartition(":")[2]
    place = cache / "sandbox" / f"etc-{digest[:32]}"
    if not place.is_dir():
        place.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=place.parent, prefix=".etc-"))
        made.chmod(0o755)
        for name in _shared_directories():
            (made / name).mkdir(parents=True)  # a place to mount it
        for name, content in files.items():
            (made / name).parent.mkdir(exist_ok=True)
            (made / name).write_bytes(content)
        try:
            made.rename(place)
        except OSError:
            remove_tree(made)
            if not place.is_dir():  # another worker was first
                raise
    return place


def _etc_files(hosts: str) -> Iterator[tuple[str, bytes]]:
    """Yield (path below /etc, content)."""
    for name in _FILES:
        source = Path("/etc", name)
        if source.is_file():
            yield name, source.read_bytes()
    for name, text in _OWN_FILES.items():
        yield name, (text + (hosts if name == "hosts" else "")).encode("ascii")


def system_mounts(etc: Path | None = None) -> list[str]:
    """Return the options that show the system: programs, devices, processes.

    Args:
        etc: What ``make_etc`` made; None: there is no ``/etc``.
    """
    mounts = list(_fixed_mounts())
    if etc is not None:
        mounts += ["--ro-bind", str(etc), "/etc"]
        for name in _shared_directories():
            mounts += ["--ro-bind", f"/etc/{name}", f"/etc/{name}"]
    return mounts


@functools.cache
def _fixed_mounts() -> tuple[str, ...]:
    mounts = ["--ro-bind", "/usr", "/usr"]
    for path in SYSTEM:
        if Path(path).is_symlink():
            mounts += ["--symlink", os.readlink(path), path]  # noqa: PTH115
        elif Path(path).is_dir():
            mounts += ["--ro-bind", path, path]
    # Root's own files there are ours to write to inside when we are root, and a program
    # that core_pattern names runs outside.
    mounts += ["--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys"]
    mounts += ["--dev", "/dev", "--dir", "/run", "--dir", "/var"]
    return (*mounts, "--symlink", str(TEMPORARY), "/var/tmp")  # noqa: S108


@functools.cache
def _shared_directories() -> tuple[str, ...]:
    return tuple(name for name in _DIRECTORIES if Path("/etc", name).is_dir())


def masks(hidden: Iterable[Path], shown: Iterable[Path]) -> list[str]:
    """Return mounts that cover what would be seen as part of something shown."""
    found: list[str] = []
    for path in hidden:
        if any(path.is_relative_to(part) for part in shown) and path.exists():
            if stat.S_ISDIR(path.stat().st_mode):
                found += ["--tmpfs", str(path)]
            else:
                found += ["--ro-bind", os.devnull, str(path)]
    return found
