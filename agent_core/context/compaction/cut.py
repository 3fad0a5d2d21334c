"""Where a conversation is divided into what is told in a summary and what stays as it was said (C-09, U-13)."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from agent_core.messages import (
    AgentMessage,
    AssistantMessage,
    StopReason,
    SummaryMessage,
    ToolResultMessage,
    UserMessage,
)


@dataclass(frozen=True)
class Cut:
    """Places in the messages: `start` is behind the last summary, `turn` is where the person spoke last, `place` is
    the first that stays."""

    start: int
    turn: int
    place: int

    @property
    def splits_turn(self) -> bool:
        """Whether what the person wants now is among what goes."""
        return self.place > self.turn


def find_cut(messages: Sequence[AgentMessage], sizes: Sequence[int], keep: int, most: int) -> Cut:
    """Keeps about the last `keep` tokens, and all since the person spoke last where that is no more than `most`. Never
    comes between a call and its result."""
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
    """Where that begins, of what goes, in which people ask for what is still to be done; `cut.place` where all that
    goes has been answered. What the person said last counts as asked for in any case."""
    if not cut.splits_turn and any(map(_is_done, messages[cut.place :])):
        return cut.place
    end = _last_words(messages, cut.start) if cut.splits_turn else cut.place
    return next((place + 1 for place in reversed(range(cut.start, end)) if _is_done(messages[place])), cut.start)


def last_round(messages: Sequence[AgentMessage]) -> int:
    """Where the last answer stands, whose results the model has not seen yet; the end where there is no answer."""
    places = reversed(range(len(messages)))
    return next((place for place in places if isinstance(messages[place], AssistantMessage)), len(messages))


def _places(messages: Sequence[AgentMessage], start: int) -> list[int]:
    """Where no result would lose its call: it belongs to the answer before it, whatever stands between."""
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
    """The first of the messages that the person sent last, one right after the other."""
    places = reversed(range(start, len(messages)))
    last = next((place for place in places if isinstance(messages[place], UserMessage)), len(messages))
    while last > start and isinstance(messages[last - 1], UserMessage):
        last -= 1
    return last


def _is_done(message: AgentMessage) -> bool:
    """An answer after which nothing more was to come."""
    stops = message.stop_reason if isinstance(message, AssistantMessage) and not message.tool_calls else None
    return stops in (StopReason.STOP, StopReason.ABORTED)
