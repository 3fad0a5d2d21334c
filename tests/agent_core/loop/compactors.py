"""A compactor without a model, for tests of the agent loop."""

from agent_core.cancel import CancelToken
from agent_core.events import CompactionEnd, CompactionReason, CompactionStart, MessageEnd, MessageStart
from agent_core.loop.event_stream import Emit
from agent_core.loop.model_call import ModelCaller
from agent_core.loop.state import QueryState
from agent_core.messages import SummaryMessage, Usage
from agent_core.origin import CLEAN


class Shortens:
    """Compactor that keeps the messages since the last question if it `helps`; due with more than `most` messages."""

    def __init__(self, *, most: int = 99, helps: bool = True) -> None:
        self.reasons: list[str] = []
        self._most = most
        self._helps = helps

    def is_due(self, state: QueryState, caller: ModelCaller) -> bool:
        return len(state.messages) > self._most

    async def compact(
        self,
        state: QueryState,
        reason: CompactionReason,
        caller: ModelCaller,
        emit: Emit,
        cancel: CancelToken,
        instructions: str = "",
    ) -> CompactionEnd:
        self.reasons.append(reason)
        await emit(CompactionStart(reason=reason))
        before, boundary = len(state.messages), None
        if self._helps:
            last = next(message for message in reversed(state.messages) if message.role == "user")
            boundary = SummaryMessage(
                id=f"summary-{len(self.reasons)}",
                summary="long ago",
                first_kept_id=last.id,
                tokens_before=before,
                origin=CLEAN,
            )
            await emit(MessageStart(message=boundary))
            await emit(MessageEnd(message=boundary))
        after = len(state.messages) - 1 if boundary else before
        end = CompactionEnd(boundary=boundary, tokens_before=before, tokens_after=after, usage=Usage(total=7))
        await emit(end)
        return end
