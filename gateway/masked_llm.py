"""The model's exit: nothing that is asked of a model holds a secret, whoever put it there."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from agent_core.llm import LlmClient, LlmOptions, LlmRequest, ModelInfo, StreamDone, StreamEvent
from gateway.masking import masked
from gateway.secrets import Secrets


class MaskedLlm:
    """Asks another client. What that says in the end is masked as well: so no tool is called with a secret, and none
    is remembered. Its deltas are left alone, for a secret in pieces is found by whoever joins them."""

    def __init__(self, llm: LlmClient, secrets: Secrets) -> None:
        self._llm = llm
        self._secrets = secrets

    async def stream(
        self, model: ModelInfo, request: LlmRequest, options: LlmOptions
    ) -> AsyncGenerator[StreamEvent, None]:
        mask = self._secrets.mask
        async with aclosing(self._llm.stream(model, masked(request, mask), options)) as events:
            async for event in events:
                yield masked(event, mask) if isinstance(event, StreamDone) else event

    async def close(self) -> None:
        await self._llm.close()
