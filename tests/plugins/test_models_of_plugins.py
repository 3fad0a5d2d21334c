"""Plugins add providers of models, which are chosen, asked and shown as those that are built in."""

from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

import pytest

from agent_core.clock import Clock, new_id
from agent_core.loop.model_chain import Candidate
from agent_core.models.llm import (
    FailureCause,
    FailureKind,
    LlmClient,
    LlmOptions,
    LlmRequest,
    ModelInfo,
    StreamDone,
    StreamEvent,
    StreamStart,
)
from agent_core.models.no_model import NO_MODEL
from agent_core.models.provided import ModelProvider
from agent_core.models.scripted import SCRIPTED_MODEL, Failure, ScriptedLlm, Speech
from agent_core.models.selection import ModelSettingError, choose_fallback, choose_model, make_client
from gateway.app.chosen_plugins import ChosenPlugins
from gateway.plugin import Plugin
from gateway.runs.model_set import ModelSource
from gateway.settings.current import CurrentSettings
from gateway.settings.settings import Settings
from tests.clock import FakeClock
from tests.gateway.conftest import StartBot
from tests.plugins.packages import Packages
from tests.plugins.test_plugins_command import about

KNOWN = {"small": ModelInfo(id="small", input_price=0.0, output_price=0.0), "large": ModelInfo(id="L-70b")}


async def look_up(model: str) -> ModelInfo:
    if model not in KNOWN:
        raise ModelSettingError(f'The house has no model "{model}": it has small and large.')
    return KNOWN[model]


class Echo:
    """A client whose models say which one they are, and what they heard last."""

    def __init__(self) -> None:
        self.is_closed = False

    async def stream(
        self, model: ModelInfo, request: LlmRequest, options: LlmOptions
    ) -> AsyncGenerator[StreamEvent, None]:
        speech = Speech(model, new_id)
        yield StreamStart()
        yield speech.text(f"{model.wire_name} of the house")
        yield speech.done(request)

    async def close(self) -> None:
        self.is_closed = True


class House(Plugin):
    """Adds the models of a house."""

    name = "house"
    made: list[Echo] = []  # noqa: RUF012 (emptied by each test)

    @classmethod
    def models(cls, settings: CurrentSettings, clock: Clock) -> Sequence[ModelProvider]:
        return (ModelProvider("house", look_up, cls.client),)

    @classmethod
    def client(cls) -> LlmClient:
        cls.made.append(Echo())
        return cls.made[-1]


@pytest.fixture(autouse=True)
def made() -> list[Echo]:
    House.made.clear()
    return House.made


def provided(*kinds: type[Plugin]) -> Sequence[ModelProvider]:
    """Return the providers of plugins as a start reads them."""
    chosen = ChosenPlugins(kinds)
    chosen.read_models(Settings(home=Path()), FakeClock())
    return chosen.models.all


async def test_a_model_of_a_plugin_answers_once_it_is_set_and_is_shown_by_its_name(
    start_bot: StartBot, made: list[Echo]
) -> None:
    bot = await start_bot("I am scripted.", plugins=(House,))

    await bot.hears("/config set model house/large")
    await bot.hears("who are you?")
    await bot.hears("and now?")
    await bot.hears("/status")

    assert bot.screen[1:3] == ["L-70b of the house"] * 2
    assert "house/large (the settings ask for it)" in bot.screen[-1].replace("\\", "")
    assert len(made) == 1, "one client asks all its models"
    await bot.stop()
    assert made[0].is_closed


async def test_people_choose_a_model_of_a_plugin_and_a_fallback_answers_for_another(start_bot: StartBot) -> None:
    bot = await start_bot("I am scripted.", plugins=(House,))

    await bot.hears("/config set models house/small, house/huge")
    await bot.hears("/model house/small")
    await bot.hears("who are you?")
    await bot.hears("/model house/huge")

    assert "small of the house" in bot.screen
    assert 'The house has no model "huge": it has small and large)' in bot.screen[-1].replace("\\", "")


async def test_a_setting_that_names_no_model_of_a_provider_is_refused_in_its_words(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=(House,))

    await bot.hears("/config set model house/huge")
    await bot.hears("/config set model home/small")
    await bot.hears("/plugins house")

    assert 'The house has no model "huge": it has small and large.' in bot.screen[0].replace("\\", "")
    assert "dashscope, ollama" in bot.screen[1]
    assert ", house; for" in bot.screen[1], "those of plugins are among the known ones"
    assert "Providers of models: house" in bot.screen[2]
    assert "Last failure" not in bot.screen[2], "a wrong name is no failure of the plugin"


async def test_a_provider_wins_over_a_server_of_ones_own_and_needs_a_model_or_a_standby() -> None:
    known = provided(House)

    for choose in (choose_model, choose_fallback):
        found = await choose("House/small", {}, base_url="http://127.0.0.1:9/v1", provided=known)
        assert (found.model.id, found.model.provider, found.base_url) == ("house/small", "house", None)
    with pytest.raises(ModelSettingError, match="names no provider that is known"):
        await choose_model("house", {}, provided=known)


def standing_by(called: str, *, fails: bool = False, is_here: bool = False) -> type[Plugin]:
    """Return a plugin with a model that stands by."""

    async def found(model: str) -> ModelInfo:
        return KNOWN["huge" if fails else model]

    class StandsBy(Plugin):
        name = called

        @classmethod
        def models(cls, settings: CurrentSettings, clock: Clock) -> Sequence[ModelProvider]:
            return (ModelProvider(called, found, Echo, standby="small", is_here=is_here),)

    return StandsBy


async def test_the_first_model_that_stands_by_and_can_be_used_answers_where_none_is_set_or_found() -> None:
    known = provided(House, standing_by("broken", fails=True), standing_by("spare"), standing_by("other"))

    found = await choose_model(None, {}, provided=known, local_ports=())
    named = await choose_model("other", {}, provided=known)
    set_ = await choose_model(None, {"ANTHROPIC_API_KEY": "k"}, provided=known)

    assert (found.model.id, found.why) == ("spare/small", "no key and no local model was found")
    assert named.model.id == "other/small", "the name of the provider alone stands for it"
    assert set_.model.provider == "anthropic"


class Tried(House):
    """Has sample files, and is no AI."""

    @classmethod
    def models(cls, settings: CurrentSettings, clock: Clock) -> Sequence[ModelProvider]:
        async def played(model: str) -> ModelInfo:
            return ModelInfo(id=model, is_ai=False)

        return (ModelProvider("house", played, cls.client, samples={"notes/sales.csv": "May,1", "a.txt": "A"}),)


async def test_a_chat_begins_with_the_samples_and_a_file_of_the_person_takes_the_place_of_one(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(plugins=(Tried,))
    await bot.hears("/config set model house/small")
    await bot.hears("/new")

    await bot.hears("hello")
    await bot.hears("mine", files={"a.txt": b"my own"})

    folder = bot.made.files.workspaces.folder(bot.channel.chat("ann"))
    assert (folder / "notes" / "sales.csv").read_text() == "May,1"
    assert (folder / "a.txt").read_text() == "my own"
    assert not (folder / "a-2.txt").exists()


async def test_people_are_told_of_a_model_that_is_no_ai(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=(Tried,))
    await bot.hears("/config set model house/small")

    await bot.hears("/status")
    await bot.hears("/status", language="zh")

    assert "Right now **house/small** answers: it is no AI" in bot.screen[-2]
    assert "它不是人工智能" in bot.screen[-1]


# Without any model


UNSET = Failure(FailureKind.AUTH, "no model is set", cause=FailureCause.NO_MODEL)


@pytest.mark.parametrize(
    ("sender", "language", "words"),
    [
        (
            "ann",
            "en",
            "No model is set, so nothing answers: `parley connect model` sets one, or *Connect* on the page.",
        ),
        ("ann", "zh", "还没有设置模型，因此没有回答：请运行 `parley connect model`，或在网页的“连接”中设置。"),
        ("bob", "en", "No model is set yet, so nothing can answer; whoever runs Parley can set one. (run "),
        ("bob", "zh", "还没有设置模型，因此无法回答；运行 Parley 的人可以设置。（运行 "),
    ],
)
async def test_where_no_model_is_set_each_person_is_told_in_a_sentence(
    start_bot: StartBot, sender: str, language: str, words: str
) -> None:
    bot = await start_bot(UNSET, model=NO_MODEL, plugins=())

    await bot.hears("hello", sender=sender, language=language)

    assert words in bot.screen[-1]


async def test_without_a_model_everything_else_works(start_bot: StartBot) -> None:
    bot = await start_bot(UNSET, model=NO_MODEL, plugins=())

    await bot.hears("/status")

    assert "No model is set, so nothing answers" in bot.screen[0]


async def test_with_nothing_that_stands_by_no_model_is_chosen() -> None:
    found = await choose_model(None, {}, provided=provided(House), local_ports=())
    asked = make_client(found).stream(found.model, LlmRequest(system="", messages=()), LlmOptions())

    assert [event.failure.cause async for event in asked if isinstance(event, StreamDone) and event.failure] == [
        FailureCause.NO_MODEL
    ]
    assert (found.model, found.why) == (NO_MODEL, "no key and no local model was found")


# What goes wrong


WRONG = {
    "raises": ("raise RuntimeError('no house')", "RuntimeError: no house"),
    "is no list": ("return 5", "the result of models() should be of the type Iterable, not int"),
    "has something else": ("return [5]", "an item of models() should be of the type ModelProvider, not int"),
    "has an odd name": ("return [ModelProvider('Our house', f, f)]", "'Our house' is not made of a-z, 0-9, - and _"),
    "cannot be asked": ("return [ModelProvider('house', f, 5)]", "client of the provider house should be a function"),
    "says nothing in Chinese": (
        "return [ModelProvider('house', f, f, about={'en': 'a house'})]",
        "what the provider house says of itself is missing in zh",
    ),
    "leads out of the folder": (
        "return [ModelProvider('house', f, f, samples={'../x': ''})]",
        "the sample ../x is not named as a file",
    ),
    "is built in": ("return [ModelProvider('groq', f, f)]", "Parley itself has a provider of models groq"),
    "is on this machine": ("return [ModelProvider('ollama', f, f)]", "Parley itself has a provider of models ollama"),
    "is another's": ("return [ModelProvider('spare', f, f)]", "two plugins have a provider of models spare"),
}
CODE = """
from agent_core.models.provided import ModelProvider
class P(Plugin):
    name = "dice"
    @classmethod
    def models(cls, settings, clock):
        f = print
        {}
"""
SPARE = CODE.format("return [ModelProvider('spare', f, f)]").replace('"dice"', '"spare"')


@pytest.mark.parametrize("how", WRONG)
def test_a_plugin_with_a_wrong_provider_is_left_out_with_the_reason(packages: Packages, how: str) -> None:
    code, reason = WRONG[how]
    packages.install(SPARE, name="spare")
    packages.install(CODE.format(code), name="dice", package=f"parley-{how.replace(' ', '-').replace(chr(39), '')}")
    chosen = packages.chosen(["spare", "dice"])

    chosen.read_models(Settings(home=packages.home), FakeClock())

    assert reason in chosen.left_out["dice"]
    assert [each.name for each in chosen.models.of("spare")] == ["spare"]
    assert chosen.models.of("dice") == ()


async def test_where_the_plugin_of_the_set_model_is_left_out_another_stands_by_and_the_reason_is_told() -> None:
    settings = Settings(home=Path(), model="house/small", fallbacks=("house/large", "spare/small"))
    chosen = ChosenPlugins((House, standing_by("spare")))
    chosen.read_models(settings, FakeClock())
    chosen.models.leave_out("house")

    models = await ModelSource(FakeClock(), chosen.models).choose(settings)

    assert models.default.model.id == "spare/small"
    assert models.why.startswith('The model "house/small" names no provider that is known')
    assert [each.model.id for each in models.fallbacks] == ["spare/small"]


async def test_models_of_a_plugin_that_is_left_out_later_are_chosen_anew() -> None:
    settings = Settings(home=Path(), model="house/small")
    chosen = ChosenPlugins((House, standing_by("spare")))
    chosen.read_models(settings, FakeClock())
    source = ModelSource(FakeClock(), chosen.models)
    models = await source.choose(settings)
    assert models.default.model.id == "house/small"

    chosen.models.leave_out("house")

    assert (await source.changed(models, settings, settings)).default.model.id == "spare/small"


async def test_a_plugin_that_is_off_leaves_a_sentence_instead_of_a_start() -> None:
    chosen = ChosenPlugins((House,), off={"house"})
    chosen.read_models(Settings(home=Path()), FakeClock())

    with pytest.raises(ModelSettingError, match='The model "house/small" names no provider that is known'):
        await ModelSource(FakeClock(), chosen.models).choose(Settings(home=Path(), model="house/small"))


async def test_a_fallback_answers_for_a_client_that_fails_and_owners_see_its_reason(start_bot: StartBot) -> None:
    class Broken(House):
        @classmethod
        def client(cls) -> LlmClient:
            raise RuntimeError("the house is closed")

    other = Candidate(SCRIPTED_MODEL.model_copy(update={"id": "other"}), ScriptedLlm("I am the fallback."))
    bot = await start_bot(plugins=(Broken,), fallbacks=(other,))

    await bot.hears("/config set model house/small")
    await bot.hears("who are you?")

    assert any("I am the fallback." in said for said in bot.screen)
    await bot.hears("/plugins")
    assert "in models house: RuntimeError: the house is closed" in about(bot, "house").replace("\\", "")
