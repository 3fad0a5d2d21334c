"""Asks plugins about tool calls: they may refuse one or have it asked about, and never allow one."""

from collections.abc import Awaitable, Callable, Sequence

import structlog
from msgspec import Struct
from msgspec.structs import replace

from agent_core.background import done_within
from agent_core.clock import Clock, SystemClock
from agent_core.loop.permissions import Proposal
from gateway.permissions.policy import Ruling
from gateway.texts.say import LANGUAGES, say

GATE_WITHIN = 5.0
"""Seconds that a plugin may take. The call waits for it."""
GATED = "gate_asks"
"""Reason of a question that is asked because a plugin wants it, so that nothing else can answer it."""
_FAILED = "gate_failed"

log = structlog.get_logger(__name__)


class Objection(Struct, frozen=True):
    """A plugin's refusal of a call, or its wish that people be asked.

    Attributes:
        text: Key of one of its texts without placeholders: a sentence that says why, for the model and for people.
        asks: True if people may still approve the call; otherwise it is refused.
    """

    text: str
    asks: bool = False


BeforeCall = Callable[[Proposal], Awaitable[Objection | None]]
"""Returns what a plugin has against a call, or None."""
GateFailed = Callable[[str, Exception], None]
"""Is told of the failure of a plugin, by its name."""


def _untold(name: str, error: Exception) -> None:
    """Leave a failure to the log."""


class Gates:
    """Asks the plugins about each call that the rules do not refuse."""

    def __init__(self, gates: Sequence[tuple[str, BeforeCall]] = (), clock: Clock | None = None) -> None:
        """`gates` are by the names of their plugins."""
        self._gates = [*gates]
        self._failed: GateFailed = _untold
        self._clock = clock or SystemClock()

    def add(self, gates: Sequence[tuple[str, BeforeCall]], failed: GateFailed) -> None:
        """Ask these from now on, too: plugins are made after what decides about calls, and before any call."""
        self._gates += gates
        self._failed = failed

    async def stricter(self, ruling: Ruling, proposal: Proposal) -> Ruling:
        """Return the ruling, or a stricter one if a plugin has something against the call, or fails."""
        for name, before_call in self._gates:
            if ruling.behavior == "deny":
                break
            found = await self._objection(name, before_call, proposal)
            if found is not None and found.asks:
                asks = () if GATED in ruling.reason else (GATED,)
                ruling = replace(ruling, behavior="ask", reason=(*ruling.reason, *asks, found.text))
            elif found is not None:
                ruling = Ruling("deny", (found.text,), setting=f"plugin {name}")
        return ruling

    async def _objection(self, name: str, before_call: BeforeCall, proposal: Proposal) -> Objection | None:
        """Ask a plugin, which gets a copy: what it does to that changes nothing."""
        copy = replace(proposal, call=proposal.call.model_copy(deep=True), messages=tuple(proposal.messages))
        try:
            return await done_within(_asked(before_call, copy), GATE_WITHIN, self._clock)
        except Exception as error:
            self._failed(name, error)
            log.exception("a plugin failed", plugin=name, where="before_call")
            return Objection(_FAILED)


async def _asked(before_call: BeforeCall, proposal: Proposal) -> Objection | None:
    """Return what a plugin says. Raises TypeError for what is no objection, and KeyError if that has no such text."""
    found = await before_call(proposal)
    if found is not None and not isinstance(found, Objection):
        raise TypeError(f"before_call returned {found!r}")
    if found is not None:
        for language in LANGUAGES:
            say(found.text, language, sources="")
    return found
