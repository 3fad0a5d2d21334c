"""The spending of one agent: prices its model calls and charges them to those for whom it runs."""

from msgspec import Struct

from agent_core.identity_cache import IdentityCache
from agent_core.loop.model_chain import Candidate
from agent_core.loop.spending import PlannedCall, Reservation, UsedUp
from agent_core.messages import AssistantMessage, LlmMessage
from agent_core.models.llm import ModelInfo, ToolSpec
from agent_core.models.openai_wire import most_output
from agent_core.models.tokens import estimate, message_tokens
from channels.base import ChatKey, Sender
from gateway.permissions.access import Access
from gateway.permissions.budgets import Budgets
from gateway.permissions.room import Charged, Lack
from gateway.settings.current import CurrentSettings
from gateway.store.budget import Budget, Payer, Spent
from gateway.texts.amounts import USD, allowance_words

PER_MILLION = USD // 1_000_000
"""Billionths of a dollar for a token that costs one dollar per million."""


class AgentSpending:
    """Implements agent_core's `Spending` for the agent of a chat, a task or a job."""

    def __init__(self, budgets: Budgets, access: Access, current: CurrentSettings, chat: ChatKey, job: str) -> None:
        """Create the spending.

        Args:
            job: Id of the job that the agent works for; it does not wait for room in a budget. Empty if there is none.
        """
        self._budgets = budgets
        self._access = access
        self._payer = Payer(chat, job=job)
        self._can_wait = False
        self._refused = Spent()
        """The amount that the call refused last needed."""
        self._current = current
        self._messages = IdentityCache[LlmMessage, int](message_tokens)
        self._tools = IdentityCache[ToolSpec, int](_tool_tokens)

    @property
    def cheaper(self) -> Candidate | None:
        cheaper = self._budgets.cheaper
        return cheaper if cheaper is not None and self._budgets.are_near(self._payer) else None

    def begin_run(self, run_id: str, user_id: str | None, *, can_wait: bool) -> None:
        chat, job = self._payer.chat, self._payer.job
        person = self._access.person(chat, Sender(id=user_id, name="")) if user_id else ""
        self._payer = Payer(chat, run_id, user_id or "", person, job)
        self._can_wait = can_wait and not job

    async def reserve(self, call: PlannedCall) -> Reservation | UsedUp:
        request = call.request
        said, offered = sum(self._messages.row(request.messages)), sum(self._tools.row(request.tools))
        size = estimate(request.system) + said + offered
        most = self._most(call, size)
        found = await self._budgets.reserve(self._payer, call.models[0].id, most)
        if isinstance(found, Lack):
            self._refused = most
            return UsedUp(_reason(found.budget), self._can_wait)
        return _Reserved(self._budgets, found, size, self._current.now.budgets.unknown_price)

    async def room(self) -> None:
        await self._budgets.room_for(self._payer, self._refused)

    def _most(self, call: PlannedCall, size: int) -> Spent:
        """Return the most that a call with a request of this size may use, if the dearest of its models answers."""
        answers = [most_output(model, call.options) for model in call.models]
        unknown = self._current.now.budgets.unknown_price
        costs = [_cost(model, unknown, size, most) for model, most in zip(call.models, answers, strict=True)]
        return Spent(size + max(answers), max(costs))


class _Reserved(Struct, frozen=True):
    """Implements agent_core's `Reservation`."""

    budgets: Budgets
    charged: Charged
    size: int
    """The estimated tokens of the request."""
    unknown_price: float

    def settle(self, model: ModelInfo, answer: AssistantMessage, *, begun: bool) -> None:
        usage = answer.usage
        asked = usage.input + usage.cache_read + usage.cache_write
        if not begun and not asked and not usage.output:
            self.budgets.settle(self.charged, model.id, Spent(), "settled")
            return
        received = message_tokens(answer) if answer.content else 0
        is_told = bool(asked) and (bool(usage.output) or not received)
        asked, answered = asked or self.size, usage.output or received
        if is_told and model.input_price is not None and model.output_price is not None:
            cost = round(usage.cost_usd * USD)
        else:
            cost = _cost(model, self.unknown_price, asked, answered)
        self.budgets.settle(self.charged, model.id, Spent(asked + answered, cost), "settled" if is_told else "estimate")

    def settle_in_full(self) -> None:
        self.budgets.settle(self.charged, "", self.charged.spent, "estimate")


def _cost(model: ModelInfo, unknown: float, asked: int, answered: int) -> int:
    """Return what so many tokens of input, whether cached or not, and of output cost at most.

    `unknown` is the price of a million tokens for which the model has none.
    """
    asked_price = max(unknown if model.input_price is None else model.input_price, model.cache_write_price or 0.0)
    answer_price = unknown if model.output_price is None else model.output_price
    return round((asked * asked_price + answered * answer_price) * PER_MILLION)


def _tool_tokens(tool: ToolSpec) -> int:
    return estimate(tool.model_dump_json())


def _reason(budget: Budget) -> str:
    account = budget.account
    whose = f"{account.scope} {account.subject}".strip()
    return f"the budget of {allowance_words(budget.allowance, 'en')} has no room ({whose})"
