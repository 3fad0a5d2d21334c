"""Rebuilds a run from its rows.

Its events are reduced in order, as the loop does, and compared with the stored states. Only ids are kept in memory,
however long the run was.
"""

from collections.abc import Iterable, Iterator

from agent_core.events import AgentEnd, AgentEvent, AgentStart, MessageEnd, TurnEnd
from agent_core.loop.state import QueryState, reduce_event, state_adapter
from agent_core.messages import (
    AgentMessage,
    AssistantMessage,
    JsonObject,
    SummaryMessage,
    ToolResultMessage,
    UserMessage,
)
from gateway.store.archive import SaidRow, StepRow, Unreadable
from gateway.store.steps import SHORTENED, joined

Row = SaidRow | StepRow | Unreadable


def in_order(said: Iterable[SaidRow | Unreadable], steps: Iterable[StepRow | Unreadable]) -> Iterator[Row]:
    """Merge the tables of a run: a step follows the transcript row that it names."""
    messages = iter(said)
    message = next(messages, None)
    for step in steps:
        while message is not None and isinstance(step, StepRow) and message.seq <= step.after:
            yield message
            message = next(messages, None)
        yield step
    if message is not None:
        yield message
        yield from messages


class Rebuilt:
    """The state of a run rebuilt from its rows, which are passed to `feed` in order."""

    def __init__(self, run: str, session: str) -> None:
        self._run = run
        self._session = session
        self.state = QueryState(run_id=run, session_id=session)
        self.troubles: list[str] = []
        """Rows that cannot be read and differences from the stored states."""
        self.messages = 0
        self.steps = 0
        self.has_ended = False
        self.is_shortened = False
        """True if steps were shortened, so that not everything can be compared."""
        self._known: dict[str, AgentMessage] = {}
        self._lately: list[str] = []
        """Ids of messages since the run was last started or resumed."""

    def feed(self, row: Row) -> AgentEvent | None:
        """Apply a row and return its event; None if it has none, which is noted in `troubles`."""
        try:
            event = self._event(row)
        except ValueError as error:
            self.troubles.append(str(error).partition("\n")[0])
            return None
        if isinstance(event, AgentStart):
            # A resumed run starts with a new event and an empty state.
            self.state = QueryState(run_id=self._run, session_id=self._session)
            self._lately.clear()
        reduce_event(self.state, event)
        if isinstance(event, MessageEnd):
            self.state.messages.clear()  # the transcript has them
        if isinstance(event, TurnEnd) and isinstance(row, StepRow) and row.state and SHORTENED not in row.state:
            self._compare(event.turn, row.state)
        if isinstance(event, AgentEnd):
            self._compare_messages(event)
        return event

    def verdict(self) -> str:
        """Return the result in one line."""
        if not self.steps:
            return f"Only what was said was kept of this run: {self.messages} messages, and none of its steps."
        count = f"{self.messages} messages and {self.steps} steps"
        if self.troubles:
            return f"NOT the same when replayed ({count}): {'; '.join(self.troubles[:5])}"
        if self.is_shortened:
            return f"What is left of it fits ({count}); it was shortened when it was old, and the digests are kept."
        so_far = "" if self.has_ended else ", as far as it has come"
        return f"Replayed, the steps rebuild the same conversation{so_far}: {count}."

    def _event(self, row: Row) -> AgentEvent:
        match row:
            case Unreadable():
                raise ValueError(f"row {row.seq} of {row.table} cannot be read ({row.reason})")
            case SaidRow():
                self.messages += 1
                self._known[row.message.id] = _bare(row.message)
                self._lately.append(row.message.id)
                return MessageEnd(run_id=self._run, message=row.message)
            case StepRow():
                self.steps += 1
                self.is_shortened |= SHORTENED in row.event or SHORTENED in (row.state or {})
                try:
                    return joined(self._run, row.at, row.event, self._message)
                except ValueError as error:
                    raise ValueError(f"step {row.seq}: {error}") from error

    def _message(self, message_id: str) -> AgentMessage:
        if message_id not in self._known:
            raise ValueError(f"message {message_id} is missing in the transcript")
        return self._known[message_id]

    def _compare(self, turn: int, stored: JsonObject) -> None:
        left_out = {"messages", "steering", "follow_up"}
        rebuilt = state_adapter.dump_python(self.state, mode="json", exclude=left_out)
        for name, value in rebuilt.items():
            if name in stored and stored[name] != value:
                self.troubles.append(f"after turn {turn} {name} was {stored[name]}, and is {value} when replayed")

    def _compare_messages(self, end: AgentEnd) -> None:
        self.has_ended = True
        ended_with = [message.id for message in end.messages]
        if ended_with != self._lately:
            self.troubles.append(f"the run has added {len(ended_with)} messages, and kept are {len(self._lately)}")


def _bare(message: AgentMessage) -> AgentMessage:
    """Remove the content of a message, keeping its id."""
    match message:
        case ToolResultMessage():
            return message.model_copy(update={"content": (), "details": None})
        case UserMessage() | AssistantMessage():
            return message.model_copy(update={"content": ()})
        case SummaryMessage():
            return message.model_copy(update={"summary": ""})
        case _:
            return message
