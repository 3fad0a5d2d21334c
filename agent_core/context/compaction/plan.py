"""What is done to a conversation so that it fits: as little as needed, the cheapest first (S0-27, D-07)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agent_core.boundary import shortened
from agent_core.context.compaction.cut import Cut, find_cut, last_round
from agent_core.messages import AgentMessage, SummaryMessage

Sizes = Callable[[Sequence[AgentMessage]], list[int]]
"""Of each message, in tokens."""


@dataclass(frozen=True)
class Room:
    """In estimated tokens."""

    keep: int
    """Of what was said last, that stays as it was said."""
    target: int
    """What the next request is to hold at most."""
    limit: int
    """What it can hold at most."""
    prefix: int
    """Prompt and tools, which are in every request."""
    summary: int
    """A summary, at most."""
    telling: int
    """What whoever makes a summary can be told."""
    worthwhile: int
    """Old turns of which a model is asked for a summary, at least."""


@dataclass(frozen=True)
class Plan:
    """`short_until`: the id of the last message whose results are shown short, or nothing."""

    cut: Cut
    summarises: bool
    short_until: str = ""


def make_plan(messages: Sequence[AgentMessage], sizes: Sizes, room: Room, *, anyway: bool) -> Plan | None:
    """None where nothing can be done. `anyway`: somebody wants a summary, however little there is to be told."""
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
    """Until where results are to be short: what was shortened before stays so, after a restart, too."""
    if plan.short_until:
        return plan.short_until
    first = messages[0] if messages else None
    before = first.short_until if isinstance(first, SummaryMessage) else ""
    return before if any(message.id == before for message in messages[plan.cut.place :]) else ""


def _short_until(kept: Sequence[AgentMessage], sizes: Sizes, room: Room, after: int) -> str:
    """Results that stay are shown short only where it is still too much with them whole; those that the model has not
    seen yet, only where it could not be asked otherwise."""
    if after <= room.target:
        return ""
    seen = last_round(kept)
    saved = _saved(kept[:seen], sizes)
    if after - saved > room.limit and _saved(kept[seen:], sizes):
        return kept[-1].id
    return kept[seen - 1].id if saved else ""


def _saved(messages: Sequence[AgentMessage], sizes: Sizes) -> int:
    """Tokens that are saved where old results are shown short."""
    changed = [(message, now) for message in messages if (now := shortened(message)) is not message]
    return sum(sizes([message for message, _ in changed])) - sum(sizes([now for _, now in changed]))
