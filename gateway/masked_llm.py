"""The model's exit: nothing that is asked of a model holds a secret, whoever put it there."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from agent_core.llm import LlmClient, LlmOptions, LlmRequest, ModelInfo, StreamDone, StreamEvent, ToolSpec
from gateway.masking import masked
from gateway.secrets import Secrets

MOST_SPECS = 1000
"""Tools that are remembered; those of servers come and go."""


class MaskedLlm:
    """Asks another client. What that says in the end is masked as well: so no tool is called with a secret, and none
    is remembered. Its deltas are left alone, for a secret in pieces is found by whoever joins them."""

    def __init__(self, llm: LlmClient, secrets: Secrets) -> None:
        self._llm = llm
        self._secrets = secrets
        self._specs: dict[int, tuple[ToolSpec, ToolSpec]] = {}
        """By identity: the same tools are offered in every request, and hold as much text as the rest of it."""

    async def stream(
        self, model: ModelInfo, request: LlmRequest, options: LlmOptions
    ) -> AsyncGenerator[StreamEvent, None]:
        mask = self._secrets.mask
        tools = tuple(map(self._masked_spec, request.tools))
        rest = masked(request.model_copy(update={"tools": ()}), mask)
        safe = rest.model_copy(update={"tools": tools})
        async with aclosing(self._llm.stream(model, safe, options)) as events:
            async for event in events:
                yield masked(event, mask) if isinstance(event, StreamDone) else event

    def _masked_spec(self, spec: ToolSpec) -> ToolSpec:
        known = self._specs.get(id(spec))
        if known is None or known[0] is not spec:
            if len(self._specs) >= MOST_SPECS:
                self._specs.clear()
            known = self._specs[id(spec)] = spec, masked(spec, self._secrets.mask)
        return known[1]

    async def close(self) -> None:
        await self._llm.close()
