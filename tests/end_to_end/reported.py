"""A program of Parley that reports which stored events have come to their chat; else like the module it is given."""

import os
import runpy
import sys
from pathlib import Path

from gateway.app.local_chats import LocalChats
from gateway.chat.mailbox import Mailbox
from gateway.store.rows import InboxItem

ROUTED = "routed.txt"
"""A file beside the home with the numbers of the inbox rows."""
_route, _arrive, _arrived, _take_late = LocalChats.route, Mailbox.arrive, Mailbox.arrived, Mailbox.take_late
_arriving: set[int] = set()
"""Numbers of messages for a run that goes on, which it takes in only when their prompt has been made."""


def _reports(self: LocalChats, item: InboxItem, *, is_live: bool) -> None:
    _route(self, item, is_live=is_live)
    if item.seq not in _arriving:
        _report(item.seq)


def _arrives(self: Mailbox, item: InboxItem) -> None:
    _arriving.add(item.seq)
    _arrive(self, item)


def _has_arrived(self: Mailbox, seq: int) -> None:
    _arrived(self, seq)
    _arriving.discard(seq)
    _report(seq)


def _takes_late(self: Mailbox, seq: int) -> list[InboxItem]:
    late = _take_late(self, seq)
    for item in late:
        _arriving.discard(item.seq)
        _report(item.seq)
    return late


def _report(seq: int) -> None:
    os.write(_routed, f"{seq}\n".encode())


if __name__ == "__main__":
    # Opened once: in some tests the program has no file handle left.
    _routed = os.open(Path(os.environ["HOME"]) / ROUTED, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    LocalChats.route = _reports  # type: ignore[method-assign]
    Mailbox.arrive, Mailbox.arrived = _arrives, _has_arrived  # type: ignore[method-assign]
    Mailbox.take_late = _takes_late  # type: ignore[method-assign]
    module, *sys.argv[1:] = sys.argv[1:]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
