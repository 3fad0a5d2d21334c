"""Plans a compaction: when it is due, where to cut, and the cheapest measures first."""

from collections.abc import Callable, Sequence
from itertools import accumulate

from msgspec import Struct

from agent_core.events import CompactionReason
from agent_core.loop.state import shortened
from agent_core.messages import (
    AgentMessage,
    AssistantMessage,
    StopReason,
    SummaryMessage,
    ToolResultMessage,
    UserMessage,
)

COMPACT_AT = 0.80
"""Fraction of the window at which compaction is due."""
SKILLS_UP_TO = 0.90
KEEP = 20_000
"""Tokens of recent messages that are kept; at most a quarter of the window."""
LONGEST_SUMMARY = 1_024
"""Tokens; at most an eighth of the window."""
AROUND_SUMMARY = 1_000
"""Tokens of the instructions for a summary."""
MOST_WRONG = 4.0
"""Upper bound of the correction for low estimates; a server that reports more counts something else."""
Sizes = Callable[[Sequence[AgentMessage]], list[int]]
"""Returns the tokens of each message."""


class Window(Struct, frozen=True):
    """The window of a model, in tokens as its server counts them."""

    tokens: int
    answer: int
    """Kept free for the answer."""


class Size(Struct, frozen=True):
    """The size of the next request before a compaction."""

    tokens: int
    by: float
    """Tokens as the server counts them, per estimated token."""
    held: int
    """Tokens of the last request that a server took in which truncated it; 0 if none did."""
    prefix: int
    """Estimated tokens of prompt and tools."""


class CompactionBudget(Struct, frozen=True):
    """Token budget of a compaction, in estimated tokens."""

    keep: int
    """Recent messages that are kept unchanged."""
    target: int
    """Intended size of the next request."""
    limit: int
    """Maximum size of the next request."""
    prefix: int
    """Prompt and tools, which are part of every request."""
    summary: int
    """Maximum size of a summary."""
    telling: int
    """Maximum input of the model that makes the summary."""
    worthwhile: int
    """Minimum size of old turns for which a summary is worth a model call."""


def budget_for(reason: CompactionReason, window: Window, size: Size, *, wanted: int) -> CompactionBudget:
    """Return the token budget of a compaction; the target is at most half of the window.

    The target is lower if the server counted more than estimated, or took in less than it was sent, or if a skill needs
    budget. A manual compaction keeps less.

    Args:
        wanted: Tokens that a skill needs, 0 if none does.
    """
    keep, target = min(KEEP, window.tokens // 4), window.tokens // 2
    if reason == "overflow":
        target = min(target, size.tokens // 2, 3 * size.held // 4 or target)
    if reason == "manual":
        keep = min(keep, size.tokens // 4)
    if wanted:
        target = min(target, int(window.tokens * SKILLS_UP_TO) - wanted)
    summary = min(LONGEST_SUMMARY, window.tokens // 8)
    return CompactionBudget(
        keep=int(min(keep, target // 2) / size.by),
        target=int(target / size.by),
        limit=int((window.tokens - window.answer) / size.by),
        prefix=size.prefix,
        summary=summary,
        # Minus its answer and the earlier summary.
        telling=int((window.tokens - 2 * summary) / size.by) - AROUND_SUMMARY,
        worthwhile=window.tokens // 16 if reason == "threshold" else 1,
    )


class Cut(Struct, frozen=True):
    """Positions in the messages: `start` follows the last summary, `turn` is the start of the user's latest messages,
    `place` is the first message that is kept."""

    start: int
    turn: int
    place: int

    @property
    def splits_turn(self) -> bool:
        """Return True if the user's latest messages are among those summarised."""
        return self.place > self.turn


def find_cut(messages: Sequence[AgentMessage], sizes: Sequence[int], keep: int, most: int) -> Cut:
    """Return a cut that keeps about the last `keep` tokens.

    Everything since the user's latest messages is kept if it has at most `most` tokens. A call is never separated from
    its result.
    """
    start = 1 if messages and isinstance(messages[0], SummaryMessage) else 0
    places = _places(messages, start)
    turn = max((place for place in places if place <= _last_words(messages, start)), default=start)
    behind = [0, *accumulate(reversed(sizes))][::-1]
    place = next((place for place in places if behind[place] <= keep), None)
    if place is not None and place <= turn:
        return Cut(start, turn, place)
    within = [each for each in places if each > turn]
    if behind[turn] <= most or not within:
        return Cut(start, turn, turn)
    return Cut(start, turn, within[-1] if place is None else place)


def asked_from(messages: Sequence[AgentMessage], cut: Cut) -> int:
    """Return where, in the part to be summarised, the still open requests of users begin.

    Returns `cut.place` if all requests there have been answered. The user's latest messages always count as open.
    """
    if not cut.splits_turn and any(map(_is_done, messages[cut.place :])):
        return cut.place
    end = _last_words(messages, cut.start) if cut.splits_turn else cut.place
    return next((place + 1 for place in reversed(range(cut.start, end)) if _is_done(messages[place])), cut.start)


def last_round(messages: Sequence[AgentMessage]) -> int:
    """Return the position of the last answer, whose results the model has not seen yet; the end if there is none."""
    places = reversed(range(len(messages)))
    return next((place for place in places if isinstance(messages[place], AssistantMessage)), len(messages))


def _places(messages: Sequence[AgentMessage], start: int) -> list[int]:
    """Return the positions where a cut separates no result from its call."""
    places: list[int] = []
    is_open = False
    for place in reversed(range(start, len(messages))):
        message = messages[place]
        if isinstance(message, AssistantMessage):
            is_open = False
        elif isinstance(message, ToolResultMessage):
            is_open = True
        if not is_open:
            places.append(place)
    return places[::-1]


def _last_words(messages: Sequence[AgentMessage], start: int) -> int:
    """Return the position of the first of the user's latest consecutive messages."""
    places = reversed(range(start, len(messages)))
    last = next((place for place in places if isinstance(messages[place], UserMessage)), len(messages))
    while last > start and isinstance(messages[last - 1], UserMessage):
        last -= 1
    return last


def _is_done(message: AgentMessage) -> bool:
    """Return True for an answer that was final."""
    stops = message.stop_reason if isinstance(message, AssistantMessage) and not message.tool_calls else None
    return stops in (StopReason.STOP, StopReason.ABORTED)


class Plan(Struct, frozen=True):
    """The steps of a compaction; `short_until` is the id of the last message whose results are shortened, or empty."""

    cut: Cut
    summarises: bool
    short_until: str = ""


def make_plan(messages: Sequence[AgentMessage], sizes: Sizes, budget: CompactionBudget, *, anyway: bool) -> Plan | None:
    """Return a plan, or None if nothing can be done. `anyway` plans a summary even of very little."""
    size = sizes(messages)
    most = max(budget.keep, budget.target - budget.prefix - budget.summary)
    cut = find_cut(messages, size, budget.keep, most)
    old, kept = messages[cut.start : cut.place], messages[cut.place :]
    told, stays = sum(size[cut.start : cut.place]), sum(size[cut.place :])
    saved = _saved(old, sizes)
    after = budget.prefix + sum(size) - saved
    if saved and after <= budget.target and not anyway:
        return Plan(cut, summarises=False, short_until=old[-1].id)
    summarises = bool(old) and (anyway or told >= budget.worthwhile)
    if summarises:
        after = budget.prefix + budget.summary + stays
    short_until = _short_until(kept, sizes, budget, after) or (old[-1].id if saved and not summarises else "")
    return Plan(cut, summarises, short_until) if summarises or short_until else None


def carried(messages: Sequence[AgentMessage], plan: Plan) -> str:
    """Return until which message results are shortened. What was shortened before stays so, even after a restart."""
    if plan.short_until:
        return plan.short_until
    first = messages[0] if messages else None
    before = first.short_until if isinstance(first, SummaryMessage) else ""
    return before if any(message.id == before for message in messages[plan.cut.place :]) else ""


def _short_until(kept: Sequence[AgentMessage], sizes: Sizes, budget: CompactionBudget, after: int) -> str:
    """Return until which message results must be shortened, or an empty string.

    Kept results are shortened only if the request is too large with them, and results that the model has not seen only
    if it could not be asked otherwise.
    """
    if after <= budget.target:
        return ""
    seen = last_round(kept)
    saved = _saved(kept[:seen], sizes)
    if after - saved > budget.limit and _saved(kept[seen:], sizes):
        return kept[-1].id
    return kept[seen - 1].id if saved else ""


def _saved(messages: Sequence[AgentMessage], sizes: Sizes) -> int:
    """Return the tokens saved by shortening old results."""
    changed = [(message, now) for message in messages if (now := shortened(message)) is not message]
    return sum(sizes([message for message, _ in changed])) - sum(sizes([now for _, now in changed]))
