"""A node of Parley that reports which stored events have come to their chat; else like the module in its arguments."""

import os
import runpy
import sys
from pathlib import Path

from gateway.app.local_chats import LocalChats
from gateway.store.rows import InboxItem

ROUTED = "routed.txt"
"""A file beside the home with the numbers of the inbox rows."""
_route = LocalChats.route


def _reports(self: LocalChats, item: InboxItem, *, is_live: bool) -> None:
    _route(self, item, is_live=is_live)
    with (Path(os.environ["HOME"]) / ROUTED).open("a") as routed:
        routed.write(f"{item.seq}\n")


if __name__ == "__main__":
    LocalChats.route = _reports  # type: ignore[method-assign]
    module, *sys.argv[1:] = sys.argv[1:]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
