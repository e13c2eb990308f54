"""``python``, but up at once: asks a server that has imported all to fork for it.

    python -I -S client.py ADDRESS ARGUMENT...

What it is given goes to the fork: arguments, variables, directory, the three standard
files. It ends as the fork ends. Where there is no server, or the server says that a
fork would not be the same, it becomes the real thing.
"""

import contextlib
import json
import os
import signal
import socket
import sys


FORWARDED = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM)


def main() -> None:
    address, arguments = sys.argv[1], sys.argv[2:]
    server = socket.socket(socket.AF_UNIX)
    pid = 0
    if "TESTS_START_COLD" not in os.environ:
        with contextlib.suppress(OSError):
            pid = ask(server, address, arguments)
    if not pid:
        os.execv(sys.executable, [sys.executable, *arguments])
    for number in FORWARDED:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda number, _: os.kill(pid, number))
    # The fork has them; whoever waits for their end waits for the fork's.
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nothing, fd)
    status = server.recv(16)
    end_as(int(status) if status else signal.SIGKILL)


def ask(server: socket.socket, address: str, arguments: list[str]) -> int:
    """Return the process id of the fork; 0: the server does not do it."""
    server.connect(address)
    request = {
        "arguments": arguments,
        "directory": os.getcwd(),  # noqa: PTH109 -- starts a third faster
        "umask": current_umask(),
        "variables": dict(os.environ),
    }
    data = json.dumps(request).encode()
    socket.send_fds(server, [len(data).to_bytes(8, "big")], [0, 1, 2])
    server.sendall(data)
    return int(server.recv(16) or b"0")


def current_umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def end_as(status: int) -> None:
    """End as the one did whose status this is."""
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


main()
