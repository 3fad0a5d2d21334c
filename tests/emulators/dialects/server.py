"""A server that speaks one dialect of OpenAI's chat protocol, and refuses what that provider refuses."""

import time
from collections.abc import Callable, Sequence

from aiohttp import web
from pydantic import JsonValue

from tests.emulators.dialects.dialect import Dialect
from tests.emulators.model_script import Failure, Json, ModelRequest, Script, Turn
from tests.emulators.model_server import Frames, encoded
from tests.emulators.openai import OpenAiEmulator


class DialectServer(OpenAiEmulator):
    """`violations` has what was refused; `lessons`, what was refused of a parameter that no client can know."""

    def __init__(
        self,
        dialect: Dialect,
        script: Script = (),
        *,
        api_key: str | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(script, models=[dialect.model], api_key=api_key, clock=clock)
        self.dialect = dialect
        self.lessons: list[str] = []
        self.handed: dict[str, Json] = {}
        """What each answer with calls had for the model alone, by the ids of its calls."""
        self._calls = 0

    @property
    def base_url(self) -> str:
        return f"{self.url}{self.dialect.path}"

    def routes(self) -> Sequence[web.RouteDef]:
        return [
            web.post(f"{self.dialect.path}/chat/completions", self._complete),
            web.get(f"{self.dialect.path}/models", self._list_models),
        ]

    def problem(self, body: Json) -> str | None:
        known = {name: value for name, value in body.items() if name not in self.dialect.parameters}
        if found := super().problem(known):
            return found
        return next((said for rule in self.dialect.rules if (said := rule(body, self.handed))), None)

    async def _answer(self, request: web.Request, asked: ModelRequest) -> web.StreamResponse:
        for lesson in self.dialect.lessons:
            if said := lesson(asked.body):
                self.lessons.append(said)
                return self._failed(Failure("bad_request", message=said))
        return await super()._answer(request, asked)

    def failure(self, failure: Failure) -> tuple[int, Json]:
        if failure.reason == "bad_request" and failure.message:
            return 400, self.dialect.error(failure.message)
        return super().failure(failure)

    def frames(self, turn: Turn, asked: ModelRequest) -> Frames:
        """Return the answer's frames; reasoning and signatures come before the words, in the dialect's own fields."""
        plain = super().frames(self._numbered(turn, thinking=""), asked)
        private = self._private(turn)
        deltas = [self._chunk(asked, private)] if private else []
        if turn.tools and self.dialect.signs_calls:
            signed = self.handed[self._id_of(0)]["extra_content"]
            deltas.append(self._chunk(asked, {"tool_calls": [{"index": 0, "extra_content": signed}]}))
            return Frames(self._opening(plain), [*plain.deltas, *deltas], plain.closing)
        return Frames(self._opening(plain), [*deltas, *plain.deltas], plain.closing)

    def _opening(self, plain: Frames) -> list[bytes]:
        first = self.dialect.opening
        return [*([b"data: " + encoded(first) + b"\n\n"] if first else []), *plain.opening]

    def _chunk(self, asked: ModelRequest, delta: Json) -> bytes:
        choice: JsonValue = {"index": 0, "delta": delta, "finish_reason": None}
        return b"data: " + encoded({**self._head(asked, "chat.completion.chunk"), "choices": [choice]}) + b"\n\n"

    def _numbered(self, turn: Turn, *, thinking: str) -> Turn:
        """Return the turn without its reasoning, after noting what goes out with its calls."""
        self._calls += len(turn.tools)
        private = self._private(turn)
        if self.dialect.signs_calls:
            private["extra_content"] = {"google": {"thought_signature": f"c2lnbmVk{self._calls}/+="}}
        for index in range(len(turn.tools)):
            self.handed[self._id_of(index)] = private
        return Turn(**{**vars(turn), "thinking": thinking})

    def _private(self, turn: Turn) -> Json:
        thinking, field = turn.thinking, self.dialect.reasoning_in
        if not thinking or not field:
            return {}
        if field == "reasoning_details":
            detail: Json = {"type": "reasoning.text", "text": thinking, "index": 0, "signature": "c2ln", "format": "x"}
            return {"reasoning": thinking, "reasoning_details": [detail]}
        return {field: thinking}

    def _id_of(self, index: int) -> str:
        return self.dialect.call_id(len(self.requests) * 100 + index)

    def _call_id(self, index: int) -> str:
        return self._id_of(index)
