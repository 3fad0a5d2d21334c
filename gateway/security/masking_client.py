"""Masks secrets in every request to a model."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from agent_core.identity_cache import IdentityCache
from agent_core.messages import LlmMessage
from agent_core.models.llm import LlmClient, LlmOptions, LlmRequest, ModelInfo, StreamDone, StreamEvent, ToolSpec
from gateway.security.secrets import Secrets


class MaskingClient:
    """Client that masks secrets in requests and in the final message of a response.

    So no tool is called with a secret and none is stored. Deltas pass unmasked, since a secret may be split between
    them; consumers mask the joined text.
    """

    def __init__(self, llm: LlmClient, secrets: Secrets) -> None:
        self.llm = llm
        """The client that sends them."""
        self._secrets = secrets
        self._tools = IdentityCache[ToolSpec, ToolSpec](secrets.masked)
        self._messages = IdentityCache[LlmMessage, LlmMessage](secrets.masked)
        self._masked_for = secrets.count

    async def stream(
        self, model: ModelInfo, request: LlmRequest, options: LlmOptions
    ) -> AsyncGenerator[StreamEvent, None]:
        if self._masked_for != self._secrets.count:
            self._masked_for = self._secrets.count
            self._tools.forget()
            self._messages.forget()
        safe = request.model_copy(
            update={
                "system": self._secrets.mask(request.system),
                "messages": tuple(self._messages.row(request.messages)),
                "tools": tuple(self._tools.row(request.tools)),
            }
        )
        async with aclosing(self.llm.stream(model, safe, options)) as events:
            async for event in events:
                yield self._safe(event) if isinstance(event, StreamDone) else event

    def _safe(self, done: StreamDone) -> StreamDone:
        message, failure = self._secrets.masked(done.message), self._secrets.masked(done.failure)
        if message is done.message and failure is done.failure:
            return done
        return done.model_copy(update={"message": message, "failure": failure})

    async def close(self) -> None:
        await self.llm.close()
