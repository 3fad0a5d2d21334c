"""The part of /status about the model that answers in a chat: its name, price and thinking, and today's usage."""

from collections.abc import Callable
from math import ceil

from agent_core.clock import Clock
from agent_core.loop.model_chain import ModelChain
from agent_core.models.model_names import shown_name
from channels.text import literal
from gateway.commands.command import Invocation
from gateway.commands.models import price_words, where_words
from gateway.permissions.budgets import Budgets
from gateway.runs.chat_models import ChatModels, Chosen
from gateway.store.budget import chat_account
from gateway.texts.about import About
from gateway.texts.amounts import Period, Unit, amount_words
from gateway.texts.say import Language, model_reason, say


class ModelStatus:
    """Describes the model of a chat."""

    def __init__(
        self, about: Callable[[], About], models: ChatModels, chain: ModelChain, budgets: Budgets, clock: Clock
    ) -> None:
        self._about = about
        self._models = models
        self._chain = chain
        self._budgets = budgets
        self._clock = clock

    def notice(self, language: Language) -> str:
        """Return a sentence about what answers if that is no AI; empty for an AI."""
        return self._models.notice(language)

    async def window(self, given: Invocation) -> int:
        """Return the tokens of the model's context window."""
        return (await self._models.chosen(given.chat)).model.context_window

    async def lines(self, given: Invocation) -> list[str]:
        """Return a line for the model, its facts, models that rest, and what was used here today."""
        language, chosen = given.language, await self._models.chosen(given.chat)
        await self._budgets.refresh()
        has_price = chosen.model.input_price is not None and chosen.model.output_price is not None
        facts = say(
            "status_model_facts",
            language,
            price=price_words(chosen.model, language) if has_price else say("status_price_unknown", language),
            thinking=chosen.thinking,
            where=where_words(chosen.thinking_setting, language),
        )
        return [self._model(given, chosen), facts, *self._resting(given), self._used(given)]

    def _model(self, given: Invocation, chosen: Chosen) -> str:
        language, name = given.language, literal(chosen.model.id)
        if chosen.is_gone and chosen.setting is not None:
            return say("model_gone", language, model=literal(shown_name(chosen.setting.value)), default=name)
        rests = self._chain.resting().get(chosen.model.id)
        note = say("model_rests", language, minutes=ceil(rests / 60)) if rests else ""
        if chosen.setting is not None:
            where = where_words(chosen.setting, language)
        else:  # the reason may name one of the owner's servers
            where = f" ({model_reason(self._about().why, language)})" if given.is_owner else ""
        return say("status_model", language, model=f"{name}{where}{note}")

    def _resting(self, given: Invocation) -> list[str]:
        """Return the line about models that are paused after failures; only owners see it."""
        resting = self._chain.resting() if given.is_owner else {}
        models = [
            say("resting_for", given.language, model=literal(model), minutes=ceil(seconds / 60))
            for model, seconds in resting.items()
        ]
        return [say("status_resting", given.language, models=", ".join(models))] if models else []

    def _used(self, given: Invocation) -> str:
        language = given.language
        used = self._budgets.ledger.used(chat_account(given.chat), self._clock.time(), Period.DAY)
        return say(
            "status_used",
            language,
            tokens=amount_words(used.tokens, Unit.TOKENS, language),
            cost=amount_words(used.cost, Unit.USD, language),
        )
