"""Stands for a model where none is set or found."""

from collections.abc import AsyncGenerator

from agent_core.messages import AssistantMessage, StopReason
from agent_core.models.llm import (
    FailureCause,
    FailureKind,
    LlmFailure,
    LlmOptions,
    LlmRequest,
    ModelInfo,
    StreamDone,
    StreamEvent,
)
from agent_core.origin import CLEAN

NO_MODEL = ModelInfo(id="none", provider="none", is_ai=False, input_price=0.0, output_price=0.0)
_FAILURE = LlmFailure(kind=FailureKind.AUTH, cause=FailureCause.NO_MODEL, message="no model is set")


class NoModelClient:
    """A client that says of each request that no model is set."""

    async def stream(
        self, model: ModelInfo, request: LlmRequest, options: LlmOptions
    ) -> AsyncGenerator[StreamEvent, None]:
        """Fail."""
        message = AssistantMessage(
            content=(), stop_reason=StopReason.ERROR, model=model.id, origin=CLEAN, error_message=_FAILURE.message
        )
        yield StreamDone(message=message, failure=_FAILURE)

    async def close(self) -> None:
        """Do nothing."""
