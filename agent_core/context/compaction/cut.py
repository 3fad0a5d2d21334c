"""Divides a conversation into the part that is summarised and the part that is kept."""

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
