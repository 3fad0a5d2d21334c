"""Plans a compaction: as little as needed, the cheapest measures first."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agent_core.context.compaction.cut import Cut, find_cut, last_round
from agent_core.context.compaction.threshold import Room
from agent_core.loop.history import shortened
from agent_core.messages import AgentMessage, SummaryMessage

Sizes = Callable[[Sequence[AgentMessage]], list[int]]
"""Returns the tokens of each message."""


@dataclass(frozen=True)
class Plan:
    """The steps of a compaction; `short_until` is the id of the last message whose results are shortened, or empty."""

    cut: Cut
    summarises: bool
    short_until: str = ""


def make_plan(messages: Sequence[AgentMessage], sizes: Sizes, room: Room, *, anyway: bool) -> Plan | None:
    """Return a plan, or None if nothing can be done. `anyway` plans a summary even of very little."""
    size = sizes(messages)
    most = max(room.keep, room.target - room.prefix - room.summary)
    cut = find_cut(messages, size, room.keep, most)
    old, kept = messages[cut.start : cut.place], messages[cut.place :]
    told, stays = sum(size[cut.start : cut.place]), sum(size[cut.place :])
    saved = _saved(old, sizes)
    after = room.prefix + sum(size) - saved
    if saved and after <= room.target and not anyway:
        return Plan(cut, summarises=False, short_until=old[-1].id)
    summarises = bool(old) and (anyway or told >= room.worthwhile)
    if summarises:
        after = room.prefix + room.summary + stays
    short_until = _short_until(kept, sizes, room, after) or (old[-1].id if saved and not summarises else "")
    return Plan(cut, summarises, short_until) if summarises or short_until else None


def carried(messages: Sequence[AgentMessage], plan: Plan) -> str:
    """Return until which message results are shortened. What was shortened before stays so, even after a restart."""
    if plan.short_until:
        return plan.short_until
    first = messages[0] if messages else None
    before = first.short_until if isinstance(first, SummaryMessage) else ""
    return before if any(message.id == before for message in messages[plan.cut.place :]) else ""


def _short_until(kept: Sequence[AgentMessage], sizes: Sizes, room: Room, after: int) -> str:
    """Return until which message results must be shortened, or an empty string.

    Kept results are shortened only if the request is too large with them, and results that the model has not seen only
    if it could not be asked otherwise.
    """
    if after <= room.target:
        return ""
    seen = last_round(kept)
    saved = _saved(kept[:seen], sizes)
    if after - saved > room.limit and _saved(kept[seen:], sizes):
        return kept[-1].id
    return kept[seen - 1].id if saved else ""


def _saved(messages: Sequence[AgentMessage], sizes: Sizes) -> int:
    """Return the tokens saved by shortening old results."""
    changed = [(message, now) for message in messages if (now := shortened(message)) is not message]
    return sum(sizes([message for message, _ in changed])) - sum(sizes([now for _, now in changed]))
