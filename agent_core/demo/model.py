"""The demo model: deterministic rules without AI and network, but with real tools, through the same loop as any model.

New users meet it before a real model is connected, and it says so. It is stateless: each request is read from the last
finished answer on, and missing facts are fetched by tools.
"""

from collections.abc import AsyncGenerator

from agent_core.clock import Clock, NewId, new_id
from agent_core.demo.decide import decide
from agent_core.identity_cache import Remembered
from agent_core.messages import LlmMessage, Usage
from agent_core.models.llm import LlmOptions, LlmRequest, ModelInfo, StreamEvent, StreamStart, ToolSpec
from agent_core.models.scripted import Speech, words
from agent_core.models.tokens import estimate, message_tokens

WORD_S = 0.006
LONGEST_S = 3.0
"""Seconds within which long answers are streamed, by streaming faster."""


class DemoLlm:
    """An `LlmClient` without dependencies; any number of chats may share it."""

    def __init__(self, clock: Clock, *, new_id: NewId = new_id, word_s: float = WORD_S) -> None:
        self._clock = clock
        self._new_id = new_id
        self._word_s = word_s

    async def stream(
        self, model: ModelInfo, request: LlmRequest, options: LlmOptions
    ) -> AsyncGenerator[StreamEvent, None]:
        turn = decide(request)
        text, calls = (turn, ()) if isinstance(turn, str) else (turn.text, turn.calls)
        speech = Speech(model, self._new_id)
        pieces = list(words(text))
        pause = min(self._word_s, LONGEST_S / max(1, len(pieces)))
        yield StreamStart()
        for piece in pieces:
            await self._clock.sleep(pause)
            yield speech.text(piece)
        for call in calls:
            for delta in speech.call(call):
                yield delta
        done = speech.done(request)
        yield done.model_copy(update={"message": done.message.model_copy(update={"usage": _usage(request, text)})})

    async def close(self) -> None:
        """Do nothing."""


_message_size = Remembered[LlmMessage, int](message_tokens)
_tool_size = Remembered[ToolSpec, int](lambda spec: estimate(spec.model_dump_json()))


def _usage(request: LlmRequest, text: str) -> Usage:
    """Return the usage, estimated like Parley's own figures."""
    read = estimate(request.system) + sum(_tool_size.each(request.tools)) + sum(_message_size.row(request.messages))
    said = estimate(text)
    return Usage(input=read, output=said, total=read + said)
