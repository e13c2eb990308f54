"""In a network with nothing on it: listens for the outside and starts a program.

Run as ``python -I -S forward.py DIRECTORY PLACES -- PROGRAM ARGUMENT...``; PLACES is
JSON, a list of [address, port], and the directory has a Unix socket for each, by its
number. A child carries bytes between them; this process becomes the program. Standard
library only, on any Python from 3.6.
"""

import errno
import fcntl
import json
import os
import selectors
import signal
import socket
import struct
import sys


CHUNK = 1 << 16
#: Bytes that wait to be written before no more are read for them.
ENOUGH = 1 << 20
#: ioctl(2): give an interface an address.
SIOCSIFADDR = 0x8916


class Side:
    """One end of a connection."""

    def __init__(self, connection):
        self.socket = connection
        self.waiting = bytearray()
        self.ended = False
        self.other = None


class Forwarder:
    """Carries bytes between the listeners' connections and the Unix sockets."""

    def __init__(self, listeners):
        self.selector = selectors.DefaultSelector()
        for listener, path in listeners:
            listener.setblocking(False)
            self.selector.register(listener, selectors.EVENT_READ, path)

    def run(self):
        """Go on until killed."""
        while True:
            for key, events in self.selector.select():
                if isinstance(key.data, str):
                    self.accept(key.fileobj, key.data)
                elif key.fileobj.fileno() >= 0:
                    self.move(key.data, events)

    def accept(self, listener, path):
        """Connect somebody who called to the socket of the outside."""
        try:
            connection = listener.accept()[0]
        except OSError:
            return
        outside = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            outside.connect(path)
        except OSError:
            connection.close()
            outside.close()
            return
        one, two = Side(connection), Side(outside)
        one.other, two.other = two, one
        for side in (one, two):
            side.socket.setblocking(False)
            self.selector.register(side.socket, selectors.EVENT_READ, side)

    def move(self, side, events):
        """Read what came and write what waits."""
        try:
            if events & selectors.EVENT_READ:
                data = side.socket.recv(CHUNK)
                side.other.waiting += data
                side.ended = not data
                self.flush(side.other)
            if events & selectors.EVENT_WRITE:
                self.flush(side)
        except BlockingIOError:
            pass
        except OSError:
            self.close(side)
            return
        both = (side, side.other)
        if all(one.ended and not one.other.waiting for one in both):
            self.close(side)
            return
        for one in both:
            self.watch(one)

    def flush(self, side):
        """Write what waits; pass the end on once all is written."""
        try:
            if side.waiting:
                del side.waiting[: side.socket.send(side.waiting)]
        except BlockingIOError:
            return
        if side.other.ended and not side.waiting:
            try:
                side.socket.shutdown(socket.SHUT_WR)
            except OSError as exc:
                if exc.errno != errno.ENOTCONN:
                    raise

    def watch(self, side):
        """Wait for what can happen next on a side."""
        events = 0
        if not side.ended and len(side.other.waiting) < ENOUGH:
            events |= selectors.EVENT_READ
        if side.waiting:
            events |= selectors.EVENT_WRITE
        known = side.socket in self.selector.get_map()
        if events and known:
            self.selector.modify(side.socket, events, side)
        elif events:
            self.selector.register(side.socket, events, side)
        elif known:
            self.selector.unregister(side.socket)

    def close(self, side):
        """Cut a connection."""
        for one in (side, side.other):
            if one.socket in self.selector.get_map():
                self.selector.unregister(one.socket)
            one.socket.close()


def listen(address, port, number):
    """Return a socket that listens on an address, which is given to us if need be."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((address, port))
    except OSError as exc:
        if exc.errno != errno.EADDRNOTAVAIL or family != socket.AF_INET:
            raise
        name = ("lo:%d" % number).encode()
        request = struct.pack(
            "16sHH4s8x", name, family, 0, socket.inet_pton(family, address)
        )
        fcntl.ioctl(listener, SIOCSIFADDR, request)
        listener.bind((address, port))
    listener.listen(128)
    return listener


def main():
    """Listen, leave a forwarder behind, become the program."""
    # A path by the descriptor: one as it is may be too long for a Unix socket.
    place = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECTORY)
    listeners = []
    for number, (address, port) in enumerate(json.loads(sys.argv[2])):
        path = "/proc/self/fd/%d/%d" % (place, number)
        try:
            listeners.append((listen(address, port, number), path))
        except OSError as exc:
            sys.exit("forward.py: %s:%s: %s" % (address, port, exc.strerror))
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        Forwarder(listeners).run()
    for listener, _ in listeners:
        listener.close()
    os.close(place)
    for name in ("SIGPIPE", "SIGXFSZ"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    program = sys.argv[4:]
    os.execvp(program[0], program)


if __name__ == "__main__":
    main()
