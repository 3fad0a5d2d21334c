"""Stores a run's messages as they are produced."""

from collections.abc import Callable

from agent_core.events import AgentEvent, MessageEnd, TurnStart
from agent_core.messages import AgentMessage, AssistantMessage, ToolResultMessage
from agent_core.tools.registry import ToolRegistry
from gateway.store.rows import Run, inbox_seqs
from gateway.store.store import Store


def _nobody(_: str) -> None:
    """Ignore the id of a stored message."""


class Transcript:
    """Transcript of one run. Pass every event to `keep`."""

    def __init__(self, store: Store, run: Run, tools: ToolRegistry, on_said: Callable[[str], None] = _nobody) -> None:
        """`on_said` is called with the id of each message that has entered the transcript."""
        self._store = store
        self._run = run
        self._tools = tools
        self._on_said = on_said
        self._turn = 0

    async def keep(self, event: AgentEvent) -> None:
        """Store the event's message, waiting for the write only if it involves a call that may not be repeated.

        Such a call must be on disk before the run goes on, or a resumed run could make it twice. Other messages are
        written together with the next one.
        """
        match event:
            case TurnStart():
                self._turn = event.turn
            case MessageEnd(message=message):
                later = all(map(self._tools.may_repeat, _tools_in(message)))
                written = self._store.transcript.append(
                    self._run, self._turn, message, inbox_seqs([message.id]), later=later
                )
                self._on_said(message.id)
                if not later:
                    await written
            case _:
                pass


def _tools_in(message: AgentMessage) -> list[str]:
    """Return the names of the tools that a message calls or answers."""
    match message:
        case AssistantMessage():
            return [call.name for call in message.tool_calls]
        case ToolResultMessage():
            return [message.tool_name]
        case _:
            return []
