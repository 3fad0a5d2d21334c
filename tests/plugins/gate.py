"""A plugin that guards calls, for tests: it refuses those that name the vault, and asks about those in the attic."""

import asyncio
from pathlib import Path
from typing import ClassVar

from agent_core.loop.permissions import Proposal
from gateway.permissions.gates import Objection
from gateway.plugin import Plugin

REFUSED = "Nothing in the vault may be touched."
ASKED = "The attic is somebody's."


class Guard(Plugin):
    """Refuses calls by their arguments, and hangs at the first that names a file that is there."""

    name = "guard"
    texts: ClassVar = {
        "guard_refuses": {"en": REFUSED, "zh": "保险库中的内容不得改动。"},
        "guard_asks": {"en": ASKED, "zh": "阁楼属于别人。"},
    }

    async def before_call(self, call: Proposal) -> Objection | None:
        named = str(call.call.arguments)
        if _hangs(self.core.home):
            await asyncio.get_running_loop().create_future()
        if "vault/" in named:
            return Objection("guard_refuses")
        return Objection("guard_asks", asks=True) if "attic" in named else None


def _hangs(home: Path) -> bool:
    mark = home / "hang"
    is_there = mark.exists()
    if is_there:
        mark.rename(home / "hung")
    return is_there


PLUGIN = Guard
