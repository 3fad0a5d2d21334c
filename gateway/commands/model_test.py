"""The command /model test: asks one model a short question, and tells the time and price of its answer."""

from collections.abc import Callable
from contextlib import aclosing

from agent_core.clock import Clock, NewId
from agent_core.loop.spending import PlannedCall, Spending, UsedUp
from agent_core.messages import user
from agent_core.models.llm import LlmOptions, LlmRequest, ModelInfo, StreamDone
from agent_core.origin import CLEAN
from channels.base import ChatKey, OutboundMessage
from channels.text import in_code, literal
from gateway.commands.command import Invocation, reply
from gateway.runs.chat_models import ChatModels
from gateway.store.spending import Spending as SpendingTable
from gateway.texts.amounts import Unit, amount_words
from gateway.texts.say import say

MOST_ANSWER = 200
MOST_REASON = 300
QUESTION = "This is a test of the connection. Answer with the one word: ready"
OPTIONS = LlmOptions(max_tokens=1_000)


class ModelTest:
    """Makes test calls, which are charged to the budgets of the person who asks for them."""

    def __init__(
        self,
        models: ChatModels,
        spending_of: Callable[[ChatKey, str], Spending],
        ledger: SpendingTable,
        clock: Clock,
        new_id: NewId,
    ) -> None:
        """`spending_of` returns what charges the calls of a chat and a job (or "")."""
        self._models = models
        self._spending_of = spending_of
        self._ledger = ledger
        self._clock = clock
        self._new_id = new_id

    async def made(self, given: Invocation, model: ModelInfo) -> OutboundMessage:
        """Ask the model, without retries and other models, and tell how it went."""
        request = LlmRequest(system="", messages=(user(QUESTION, origin=CLEAN),))
        spending = self._spending_of(given.chat, "")
        run = self._new_id()
        spending.begin_run(run, given.sender.id, can_wait=False)
        reserved = await spending.reserve(PlannedCall((model,), request, OPTIONS))
        if isinstance(reserved, UsedUp):
            return reply(say("model_test_no_room", given.language, slash=given.slash))
        began, done, begun = self._clock.monotonic(), None, False
        try:
            async with aclosing(self._models.client_of(model.id).stream(model, request, OPTIONS)) as stream:
                async for event in stream:
                    begun = begun or event.type not in ("start", "done")
                    done = event if isinstance(event, StreamDone) else done
        finally:
            if done is None:
                reserved.settle_in_full()
        if done is None:
            raise TypeError("a stream ends with StreamDone")
        reserved.settle(model, done.message, begun=begun)
        return reply(await self._told(given, model, done, self._clock.monotonic() - began, run))

    async def _told(self, given: Invocation, model: ModelInfo, done: StreamDone, seconds: float, run: str) -> str:
        name, took = in_code(model.id), f"{seconds:.1f}"
        if done.failure is not None:
            reason = literal(done.failure.message[:MOST_REASON])
            return say("model_test_failed", given.language, model=name, seconds=took, reason=reason)
        spent = await self._ledger.of_run(run)
        return say(
            "model_test_done",
            given.language,
            model=name,
            seconds=took,
            tokens=amount_words(spent.tokens, Unit.TOKENS, given.language),
            cost=amount_words(spent.cost, Unit.USD, given.language),
            answer=literal(" ".join(done.message.text.split())[:MOST_ANSWER]),
        )
