"""The commands that choose the model of a chat and how much it thinks: /model, /think."""

from collections.abc import Iterable
from math import ceil

from agent_core.loop.model_chain import ModelChain
from agent_core.models.llm import ModelInfo
from agent_core.models.model_names import shown_name
from channels.base import Button, OutboundMessage
from channels.buttons import Entry, fits_a_button
from channels.commands import Suggestion
from channels.text import in_code, literal
from gateway.chat.replies import Answer, Unfolded
from gateway.commands.choice import Asked, Page, choice, entry, more
from gateway.commands.command import Command, Invocation, Unfinished, reply
from gateway.commands.levels import DEFAULT, WIDE, Aimed, aimed, level_form, level_words
from gateway.commands.model_test import ModelTest
from gateway.commands.suggested import suggested_models
from gateway.permissions.rights import LOOK, OTHERWISE, Right, Rights
from gateway.permissions.roles import Role
from gateway.runs.chat_models import LEVELS, MODEL, THINKING, ChatModels
from gateway.store.chat_settings import ChatSetting, ChatSettings
from gateway.texts.say import Language, model_reason, say

LONGEST = 60
"""Characters of an unknown name that a reply quotes."""
MOST_BUTTONS = 8
TEST = ("test", "测试")
CHOOSE = Right("write", group=Role.ADMIN, away=Role.ADMIN, refusal="level_not_yours")
FOR_MANY = Right("admin", Role.ADMIN, Role.ADMIN, away=Role.ADMIN, refusal="level_everywhere_not_yours")
TRY = Right("net", Role.OWNER, Role.OWNER, refusal="model_test_not_yours")


class ModelCommands:
    """The commands /model and /think."""

    def __init__(self, models: ChatModels, chain: ModelChain, settings: ChatSettings, test: ModelTest) -> None:
        self._models = models
        self._test = test
        self._chain = chain
        self._settings = settings

    async def model(self, given: Invocation) -> Answer:
        """List the models, choose one, or try one. In groups only owners and admins may choose."""
        verb, _, name = given.arguments.strip().partition(" ")
        if verb.lower() in TEST and name.strip():
            found = self._models.named(name)
            return (
                unknown_model(self._models, given, name, "model test")
                if found is None
                else await self._test.made(given, found)
            )
        at, asked = aimed(given), Asked.parse(given.arguments)
        if not (at.words and asked.words):
            shown = await self._list(given, asked.page)
            return Unfolded(shown) if given.pressed and given.arguments.strip() else shown
        return await (self._unset(given, at) if at.words.lower() in DEFAULT else self._choose(given, at))

    async def _choose(self, given: Invocation, at: Aimed) -> OutboundMessage:
        found = self._models.named(at.words)
        if found is None:
            return unknown_model(self._models, given, at.words, "model")
        if not self._models.allows(given.role, found.id):
            return reply(say("model_not_for_you", given.language, model=in_code(found.id), slash=given.slash))
        await self._settings.set(at.place, MODEL, found.id, given.sender.id)
        self._models.prepare_for(found.id)
        chosen = await self._models.chosen(given.chat)
        level = level_words(at.place, given.language)
        if chosen.setting is not None and chosen.setting.place != at.place:
            nearer = level_words(chosen.setting.place, given.language)
            name = literal(chosen.model.id)
            return reply(say("model_set_hidden", given.language, level=level, model=name, nearer=nearer))
        return reply(say("model_set", given.language, level=level, model=literal(found.id)))

    async def think(self, given: Invocation) -> OutboundMessage:
        """Show or set how much the model thinks before an answer."""
        at, language = aimed(given), given.language
        word = at.words.lower()
        if not word:
            return await self._levels(given)
        if word not in (*LEVELS, *DEFAULT):
            levels = ", ".join(f"`{each}`" for each in LEVELS)
            name = literal(word[:LONGEST])
            return reply(say("think_unknown", language, name=name, levels=levels, slash=given.slash))
        await self._settings.set(at.place, THINKING, None if word in DEFAULT else word, given.sender.id)
        chosen = await self._models.chosen(given.chat)
        level, setting = level_words(at.place, language), chosen.thinking_setting
        if setting is not None and setting.place != at.place:
            nearer = level_words(setting.place, language)
            lines = [say("think_set_hidden", language, level=level, thinking=chosen.thinking, nearer=nearer)]
        else:
            lines = [say("think_set", language, level=level, thinking=chosen.thinking)]
        if chosen.thinking != "off" and not chosen.model.reasoning:
            lines.append(say("think_no_effect", language, model=literal(chosen.model.id)))
        return reply("\n\n".join(lines))

    async def _levels(self, given: Invocation) -> OutboundMessage:
        chosen = await self._models.chosen(given.chat)
        text = say(
            "think_here",
            given.language,
            thinking=chosen.thinking,
            where=where_words(chosen.thinking_setting, given.language),
        )
        choices = [each for each in LEVELS if each == "off" or each in chosen.model.thinking_levels]
        buttons = tuple(Button(label=each, action=f"/think {each}") for each in choices)
        return OutboundMessage(markdown=text, buttons=(buttons,))

    async def _list(self, given: Invocation, page: int) -> OutboundMessage:
        language, chosen = given.language, await self._models.chosen(given.chat)
        name = literal(chosen.model.id)
        if chosen.is_gone and chosen.setting is not None:
            head = say("model_gone", language, model=literal(shown_name(chosen.setting.value)), default=name)
        else:
            head = say("model_here", language, model=name, where=where_words(chosen.setting, language))
        open_to = [each for each in self._models.offered if self._models.allows(given.role, each.id)]
        listed = Page.of(open_to, page)
        rows = [f"- {self._row(each, given)}" for each in listed.shown]
        rows += [
            f"- {say('model_row_no', language, model=in_code(each), why=_reason(why, given))}"
            for each, why in self._models.unreachable.items()
        ]
        others = [each for each in listed.shown if each.id != chosen.model.id]
        back = entry(say("default_button", language), "/model default") if chosen.setting is not None else []
        leads_on = more(listed, "model", language)
        entries = [*(each for model in others for each in self._entry(model, language)), *back, *leads_on]
        first = [each for model in others[:MOST_BUTTONS] for each in self._entry(model, language)]
        buttons = tuple((Button(label=each.label, action=each.action),) for each in (*first, *back, *leads_on))
        how = say("model_how", language, slash=given.slash)
        text = "\n".join([head, "", say("models_all", language), "", *rows, "", how])
        menu = choice(say("model_choose", language), entries, len(buttons))
        return OutboundMessage(markdown=text, buttons=buttons, choice=menu)

    def _entry(self, model: ModelInfo, language: Language) -> list[Entry]:
        window = f"{model.context_window:,}"
        about = say("model_entry", language, price=price_words(model, language), window=window)
        return entry(model.id[-LONGEST:], f"/model {model.id}", about)

    async def _unset(self, given: Invocation, at: Aimed) -> OutboundMessage:
        await self._settings.set(at.place, MODEL, None, given.sender.id)
        chosen = await self._models.chosen(given.chat)
        level = level_words(at.place, given.language)
        return reply(say("model_unset", given.language, level=level, model=literal(chosen.model.id)))

    def _row(self, model: ModelInfo, given: Invocation) -> str:
        language, note = given.language, ""
        if model.id == self._models.default.id:
            note = say("model_is_default", language)
        if seconds := self._chain.resting().get(model.id):
            note += say("model_rests", language, minutes=ceil(seconds / 60))
        price, window = price_words(model, language), f"{model.context_window:,}"
        return say("model_row", language, model=in_code(model.id), price=price, window=window, note=note)

    async def _names(self, typing: Unfinished) -> Iterable[Suggestion]:
        return suggested_models(self._models, typing)

    @property
    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                "model",
                {"en": "Show or choose the model", "zh": "查看或选择模型"},
                self.model,
                rights=Rights({"": LOOK, TEST[0]: TRY, WIDE: FOR_MANY, OTHERWISE: CHOOSE}, _form),
                suggest=self._names,
                arguments="[NAME|default|test NAME] [channel|workspace|everywhere]",
                example="default",
                main=True,
            ),
            Command(
                "think",
                {"en": "Choose how much it thinks before an answer", "zh": "设置回答前的思考程度"},
                self.think,
                rights=Rights({"": LOOK, WIDE: FOR_MANY, OTHERWISE: CHOOSE}, level_form),
                arguments="[off|low|medium|high|default] [channel|workspace|everywhere]",
                example="high",
                offered_to=Role.MEMBER,
            ),
        )


def _form(arguments: str) -> str:
    if not Asked.parse(arguments).words:
        return ""
    verb, _, name = arguments.strip().partition(" ")
    return TEST[0] if verb.lower() in TEST and name.strip() else level_form(arguments)


def unknown_model(models: ChatModels, given: Invocation, wanted: str, command: str) -> OutboundMessage:
    """Return the reply to an unknown name, with a button that gives `command` the name that may be meant."""
    language, name = given.language, in_code(wanted[:LONGEST])
    if (why := models.unreachable.get(shown_name(wanted))) is not None:
        return reply(say("model_unreachable", language, name=name, why=_reason(why, given)))
    meant = models.nearest(wanted, given.role)
    if meant is None:
        return reply(say("model_unknown", language, name=name, slash=given.slash))
    text = say("model_unknown_meant", language, name=name, meant=in_code(meant))
    action = f"/{command} {meant}"
    if not fits_a_button(action):
        return reply(text)
    button = Button(label=meant[-LONGEST:], action=action, says="yes")
    return OutboundMessage(markdown=text, buttons=((button,),), asks=given.sender.id)


def where_words(setting: ChatSetting | None, language: Language) -> str:
    """Return the level that a setting was made for, in brackets; an empty text for no setting."""
    return say("set_at_level", language, level=level_words(setting.place, language)) if setting is not None else ""


def _reason(why: str, given: Invocation) -> str:
    """Return why a model is not reachable. Only admins see it, as it may name servers of the owner."""
    return f" ({model_reason(why, given.language).rstrip('.')})" if given.is_admin else ""


def price_words(model: ModelInfo, language: Language) -> str:
    if model.input_price is None or model.output_price is None:
        return say("model_price_unknown", language)
    if not (model.input_price or model.output_price):
        return say("model_free", language)
    return say("model_price", language, input=f"{model.input_price:g}", output=f"{model.output_price:g}")
