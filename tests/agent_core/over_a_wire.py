"""Scripted models over a wire: a real client talks to an emulated provider that gives the scripted turns."""

import asyncio
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Literal

import pytest

from agent_core.messages import text_of
from agent_core.models.litellm_client import LitellmClient
from agent_core.models.llm import (
    FailureCause,
    FailureKind,
    LlmOptions,
    LlmRequest,
    ModelInfo,
    StreamDone,
    StreamEvent,
    TextDelta,
)
from agent_core.models.scripted import Calls, CutOff, Said, ScriptedLlm, Thinks, Waits, words
from agent_core.models.scripted import Failure as ScriptedFailure
from agent_core.models.scripted import Turn as ScriptedTurn
from tests.agent_core.arrived import missing
from tests.agent_core.models.clients import KEY, OVER_A_WIRE, Meeting, Talk
from tests.emulators.anthropic import AnthropicEmulator
from tests.emulators.model_script import USAGE, Answer, Break, Failure, ModelRequest, Pause, ToolUse, Turn, Usage, says
from tests.in_turn import chosen

TALK_OVER_A_WIRE = {name: meeting for name, meeting in OVER_A_WIRE.items() if name != "litellm-gemini"}
"""Those whose protocol tells `missing` what arrived. Agents talk to Gemini in the tests of dialects."""


@dataclass(frozen=True)
class _Asked:
    """A request to the model and the scripted turn that answers it."""

    request: LlmRequest
    model: ModelInfo
    answer: Answer


class WireLlm(ScriptedLlm):
    """Scripted model at the other end of a wire. Close it with `disconnect`, which fails on violations and if part of a
    request did not reach the server."""

    def __init__(self, meeting: Meeting, *turns: ScriptedTurn) -> None:
        super().__init__(*turns)
        self.usage: Usage | Callable[[LlmRequest], Usage] | None = _counted
        """Token usage that the server reports, or None."""
        self._meeting = meeting
        self._life = AsyncExitStack()
        self._talk: Talk | None = None
        self._meets = asyncio.Lock()
        self._calls = 0
        self._asked: list[_Asked] = []
        """Requests by the number at the end of the model's name, as an abandoned one may or may not reach the
        server."""
        self._lost: list[str] = []

    async def stream(
        self, model: ModelInfo, request: LlmRequest, options: LlmOptions
    ) -> AsyncGenerator[StreamEvent, None]:
        turn = self.next_turn(request, options)
        talk = await self._meet()
        assert talk.server is not None
        talk.server.api_key = options.api_key.get_secret_value() if options.api_key else KEY
        name = f"{talk.model.id}-{len(self._asked)}"
        answer = self._answer(turn, is_anthropic=isinstance(talk.server, AnthropicEmulator))
        if isinstance(answer, Turn):
            answer = replace(answer, usage=self.usage(request) if callable(self.usage) else self.usage)
        self._asked.append(_Asked(request, model, answer))
        same = {"context_window": model.context_window, "max_output": model.max_output, "vision": model.vision}
        named = talk.model.model_copy(update={"id": name, **same})
        async with aclosing(talk.client.stream(named, request, options)) as events:
            async for event in _reaching(turn, events) if isinstance(turn, Waits) else events:
                yield _under_its_own_name(event, model)

    async def disconnect(self) -> None:
        await self._life.aclose()
        assert self._lost == []

    async def _meet(self) -> Talk:
        async with self._meets:
            if self._talk is None:
                self._talk = await self._life.enter_async_context(self._meeting(self._answer_to))
        return self._talk

    def _answer_to(self, came: ModelRequest) -> Answer:
        asked = self._asked[int(came.model.rpartition("-")[2])]
        if lost := missing(asked.request, came, vision=asked.model.vision):
            self._lost.append(lost)
        return asked.answer

    def _answer(self, turn: Said, *, is_anthropic: bool) -> Answer:
        cut = "max_tokens" if is_anthropic else "length"
        match turn:
            case str():
                return says(deltas=tuple(words(turn)))
            case Calls():
                return Turn(deltas=tuple(words(turn.text)), tools=self._uses(turn))
            case CutOff():
                return Turn(deltas=tuple(words(turn.text)), tools=self._uses(turn), finish=cut)
            case ScriptedFailure():
                return _failure(turn)
            case Thinks():
                return replace(self._then(turn, is_anthropic=is_anthropic), thinking=turn.thinking)
            case Waits():
                said, rest = tuple(words(turn.words)), self._then(turn, is_anthropic=is_anthropic)
                opening = 1 if is_anthropic and said else 0
                return replace(rest, deltas=said + rest.deltas, pause=Pause(len(said) + opening, turn.event))

    def _then(self, turn: Thinks | Waits, *, is_anthropic: bool) -> Turn:
        rest = turn.then
        assert not callable(rest)
        answer = self._answer(rest, is_anthropic=is_anthropic)
        assert isinstance(answer, Turn)
        return answer

    def _uses(self, turn: Calls | CutOff) -> tuple[ToolUse, ...]:
        uses = []
        for call in turn.calls:
            self._calls += 1
            uses.append(ToolUse(call.name, call.arguments, call.id or f"call_{self._calls}"))
        return tuple(uses)


def _counted(request: LlmRequest) -> Usage:
    """Count words, as the scripted model does."""
    words_in = sum(len(text_of(message.content).split()) for message in request.messages)
    return replace(USAGE, input=len(request.system.split()) + words_in)


async def _reaching(turn: Waits, events: AsyncGenerator[StreamEvent, None]) -> AsyncGenerator[StreamEvent, None]:
    """Yield the events, setting `reached` once those before the wait are consumed."""
    said = ""
    async for event in events:
        yield event
        said += event.delta if isinstance(event, TextDelta) else ""
        if said == turn.words:
            turn.reached.set()


def _under_its_own_name(event: StreamEvent, model: ModelInfo) -> StreamEvent:
    """Replace the model's name on the wire by its name in the conversation."""
    if not isinstance(event, StreamDone):
        return event
    return event.model_copy(update={"message": event.message.model_copy(update={"model": model.id})})


def _failure(turn: ScriptedFailure) -> Answer:
    if turn.after_words:
        return _broken_off(turn)
    if turn.kind is FailureKind.TRANSIENT and turn.retry_after_s is not None:
        return Failure("rate_limit", turn.retry_after_s)
    if turn.cause is FailureCause.NOT_FOUND:
        return Failure("not_found", message=turn.message)
    if turn.cause is FailureCause.CONTENT:
        return Failure("bad_request", message="flagged by the content policy")
    if turn.kind is FailureKind.QUOTA:
        return Failure("rate_limit", message=NO_QUOTA)
    if turn.kind is FailureKind.FATAL:
        raise ValueError("no provider says so: the client is broken")
    has_words = turn.kind is FailureKind.TRANSIENT or turn.message != ScriptedFailure(turn.kind).message
    return Failure(_REASONS[turn.kind], message=turn.message if has_words else None)


def _broken_off(turn: ScriptedFailure) -> Turn:
    deltas = tuple(words(turn.after_words))
    if turn.cause is FailureCause.NETWORK:
        return says(deltas=deltas, breaks=Break("cut", 1))
    return says(deltas=deltas, breaks=Break("error", 99, NO_QUOTA if turn.kind is FailureKind.QUOTA else None))


NO_QUOTA = "You exceeded your current quota: insufficient_quota"


_REASONS: dict[FailureKind, Literal["overloaded", "auth", "overflow", "bad_request"]] = {
    FailureKind.TRANSIENT: "overloaded",
    FailureKind.AUTH: "auth",
    FailureKind.OVERFLOW: "overflow",
    FailureKind.INVALID: "bad_request",
}


MakeWireModel = Callable[..., WireLlm]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test of `model_of` over one real client; with `--all-platforms` over all of them."""
    if "model_of" in metafunc.fixturenames:
        metafunc.parametrize("model_of", chosen(metafunc, list(TALK_OVER_A_WIRE)), indirect=True)


@pytest.fixture
async def model_of(request: pytest.FixtureRequest) -> AsyncIterator[MakeWireModel]:
    """Create scripted models over a real client with an emulated provider."""
    async with _models(TALK_OVER_A_WIRE[request.param]) as make:
        yield make


async def _warm() -> None:
    """Import litellm, which takes seconds, so that no test has to wait for it."""
    if "litellm" not in sys.modules:
        await LitellmClient().warm_up()


@asynccontextmanager
async def _models(meeting: Meeting) -> AsyncIterator[MakeWireModel]:
    await _warm()
    opened: list[WireLlm] = []

    def make(*turns: ScriptedTurn) -> WireLlm:
        opened.append(WireLlm(meeting, *turns))
        return opened[-1]

    yield make
    for llm in opened:
        await llm.disconnect()
