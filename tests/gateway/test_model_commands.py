"""Which model answers in a chat, and how much it thinks: /model and /think."""

import asyncio
from dataclasses import replace

import pytest

from agent_core.loop.model_chain import Candidate
from agent_core.messages import ImageContent, UserMessage
from agent_core.models.llm import FailureCause, FailureKind, LlmOptions, LlmRequest, ModelInfo
from agent_core.models.scripted import Failure, ScriptedLlm, Turn
from gateway.permissions.roles import Role
from gateway.runs.model_set import ModelMenu
from gateway.store.chat_settings import EVERYWHERE
from gateway.store.job import Report
from gateway.texts.amounts import money
from gateway.texts.say import LANGUAGES
from tests.agent_core.kit import MakeModel
from tests.gateway.conftest import StartBot
from tests.gateway.jobs.kit import a_job
from tests.gateway.tasking import rows
from tests.process import until

BIG = ModelInfo(id="anthropic/big", context_window=200_000, reasoning=True, input_price=3.0, output_price=15.0)


def big(*turns: Turn) -> Candidate:
    return Candidate(BIG, ScriptedLlm(*turns))


def offering(*turns: Turn) -> ModelMenu:
    return ModelMenu((big(*turns),))


class Slow(ScriptedLlm):
    """A model whose first call needs preparation, which takes until it is let go."""

    def __init__(self, *turns: Turn) -> None:
        super().__init__(*turns)
        self.let_go = asyncio.Event()
        self.times = 0

    async def warm_up(self) -> None:
        self.times += 1
        await self.let_go.wait()


async def test_a_model_is_prepared_once_when_it_is_chosen_and_nobody_waits_for_that(start_bot: StartBot) -> None:
    slow = Slow("From the big one.")
    bot = await start_bot("From the default.", models=ModelMenu((Candidate(BIG, slow),)))

    await bot.hears("hello")
    assert slow.times == 0
    await bot.hears("/model anthropic/big")
    await until(lambda: slow.times == 1)
    await bot.hears("/model anthropic/big")
    await bot.hears("hello again")

    assert bot.screen[-1] == "From the big one."
    assert slow.times == 1


async def test_a_model_that_was_chosen_before_a_restart_is_prepared_at_the_start(start_bot: StartBot) -> None:
    slow = Slow("Big.")
    bot = await start_bot("Default.", models=ModelMenu((Candidate(BIG, slow),)))

    await bot.hears("/model big")
    await bot.restart()
    await bot.made.agents.chat_models.prepare()

    await until(lambda: slow.times == 2)


async def test_a_chosen_model_answers_from_the_next_answer_on(wired_bot: StartBot, model_of: MakeModel) -> None:
    menu = ModelMenu((Candidate(BIG, model_of("From the big one.")),))
    bot = await wired_bot("From the default.", models=menu)

    await bot.hears("hello")
    await bot.hears("/model anthropic/big")
    await bot.hears("hello again")

    assert bot.screen == [
        "From the default.",
        "**anthropic/big** answers in this chat and its threads, from the next answer on.",
        "From the big one.",
    ]


async def test_the_choice_survives_a_restart_and_the_default_comes_back(start_bot: StartBot) -> None:
    bot = await start_bot("Default.", models=offering("Big."))

    await bot.hears("/model big")
    await bot.restart()
    await bot.hears("who answers?")
    await bot.hears("/model default")
    await bot.hears("and now?")

    assert bot.screen[1] == "Big."
    assert bot.screen[2:] == [
        "Choice removed in this chat and its threads. Here **scripted** answers now.",
        "Default.",
    ]


async def test_the_list_names_prices_windows_and_what_cannot_be_reached(start_bot: StartBot) -> None:
    menu = ModelMenu((big(),), {"groq/other": "The model needs a key: set GROQ_API_KEY."})
    bot = await start_bot(models=menu)

    await bot.hears("/model")

    text = bot.screen[0]
    assert text.startswith("**scripted** answers here.")
    assert "- `scripted`: " in text
    assert "- `anthropic/big`: $3 in, $15 out per million tokens, window 200,000" in text
    assert "- `groq/other`: not reachable (The model needs a key: set GROQ_API_KEY)" in text


async def test_a_button_of_the_list_chooses_the_model(start_bot: StartBot) -> None:
    bot = await start_bot(models=offering())

    await bot.hears("/model")
    await bot.channel.presses("anthropic/big")
    await bot.app.settled()

    assert bot.screen[1].startswith("**anthropic/big** answers")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", ["antropic/bog", "nothing like it", "a" * 5_000, "<@everyone>", '"; DROP', "\ud800"])
async def test_an_unknown_model_changes_nothing(start_bot: StartBot, name: str, language: str) -> None:
    bot = await start_bot("Default.", models=offering())

    await bot.hears(f"/model {name}", language=language)
    await bot.hears("hello")

    assert bot.screen[1] == "Default."
    assert len(bot.screen[0]) < 300


async def test_a_mistyped_name_is_answered_with_the_nearest_one(start_bot: StartBot) -> None:
    bot = await start_bot(models=offering())

    await bot.hears("/model antropic/bg")
    await bot.hears("yes")

    assert bot.screen[0] == "I know no model `antropic/bg`. Did you mean `anthropic/big`?"
    assert bot.screen[1].startswith("**anthropic/big** answers")


async def test_a_thread_has_its_own_choice_and_inherits_that_of_its_channel(start_bot: StartBot) -> None:
    bot = await start_bot("Default in the thread.", models=offering("Big in the channel.", "Big in the other thread."))

    await bot.hears("/model big", group="team")
    await bot.hears("/model scripted", group="team", thread="t1")
    for thread in (None, "t1", "t2"):
        await bot.hears("hello", group="team", thread=thread)

    assert bot.screen[0] == "**anthropic/big** answers in this chat and its threads, from the next answer on."
    assert bot.screen[1] == "**scripted** answers in this thread, from the next answer on."
    assert bot.screen[2:] == ["Big in the channel.", "Default in the thread.", "Big in the other thread."]


async def test_only_owners_and_admins_choose_everywhere_or_in_a_group(start_bot: StartBot) -> None:
    bot = await start_bot(models=offering())

    await bot.hears("/model big everywhere", sender="bob")
    await bot.hears("/model big", sender="bob", group="team")
    await bot.hears("/model big everywhere", sender="ann")

    assert bot.screen[0].startswith("Only an owner or admin can change this for more than this chat.")
    assert bot.screen[1] == "In a group only an owner or admin can change this."
    assert bot.screen[2].startswith("**anthropic/big** answers everywhere,")


async def test_a_wider_choice_says_when_a_nearer_one_still_holds(start_bot: StartBot) -> None:
    bot = await start_bot(models=offering())

    await bot.hears("/model scripted")
    await bot.hears("/model big everywhere")

    assert bot.screen[1] == (
        "Set everywhere. But here **scripted** still answers, which was set in this chat and its threads."
    )


async def test_a_model_that_is_not_for_members_is_neither_listed_nor_used_for_them(start_bot: StartBot) -> None:
    bot = await start_bot("Default.", models=offering("Big."), settings={"member_models": frozenset({"some/other"})})

    await bot.hears("/model", sender="bob")
    await bot.hears("/model big", sender="bob")
    await bot.hears("/model big everywhere", sender="ann")
    await bot.hears("hello", sender="bob")
    await bot.hears("hello", sender="ann")

    assert "anthropic/big" not in bot.screen[0]
    assert bot.screen[1].startswith("`anthropic/big` is not open to your role.")
    assert bot.screen[3:] == ["Default.", "Big."]


async def test_a_chosen_model_that_is_no_longer_configured_gives_way_to_the_default(start_bot: StartBot) -> None:
    bot = await start_bot("Default.", models=offering())
    await bot.made.base.store.chat_settings.set(EVERYWHERE, "model", "gone/model", "ann")

    await bot.hears("hello")
    await bot.hears("/model")

    assert bot.screen[0] == "Default.\n\n_Answered by scripted._"
    assert bot.screen[1].startswith("**gone/model** was chosen here, but it is no longer configured")


class Thoughtful(ScriptedLlm):
    """Notes how much it was asked to think."""

    def __init__(self, *turns: Turn) -> None:
        super().__init__(*turns)
        self.levels: list[str] = []

    def stream(self, model: ModelInfo, request: LlmRequest, options: LlmOptions) -> object:  # type: ignore[override]
        self.levels.append(options.thinking)
        return super().stream(model, request, options)


async def test_thinking_is_set_for_a_chat_and_survives_a_restart(start_bot: StartBot) -> None:
    llm = Thoughtful("One.", "Two.", "Three.")
    bot = await start_bot(over=llm)

    await bot.hears("hello")
    await bot.hears("/think high")
    await bot.restart()
    await bot.hears("hello")
    await bot.hears("/think default")
    await bot.hears("hello")

    assert llm.levels == ["off", "high", "off"]
    assert bot.screen[1].startswith("Thinking is **high** in this chat and its threads, from the next answer on.")


async def test_an_unknown_level_is_answered_with_those_that_exist(start_bot: StartBot) -> None:
    bot = await start_bot()

    await bot.hears("/think very hard")
    await bot.hears("/think")

    assert bot.screen[0].startswith("`very hard` is no level of thinking. Use one of `off`, `minimal`,")
    assert bot.screen[1].startswith("Thinking before an answer is **off** here.")


async def test_jobs_and_tasks_are_answered_by_the_model_of_their_chat(start_bot: StartBot) -> None:
    bot = await start_bot(models=offering("Big."))
    await bot.hears("/model big")
    agent = bot.made.agents.of_tasks.make(bot.channel.heard[0].chat, "session", bot.home)

    await bot.made.agents.chat_models.equip(agent, bot.channel.heard[0].chat, Role.OWNER)

    assert agent.loop.model.id == "anthropic/big"


@pytest.mark.parametrize(
    "failure",
    [Failure(FailureKind.AUTH, "revoked"), Failure(FailureKind.INVALID, "no such model", cause=FailureCause.NOT_FOUND)],
    ids=["revoked", "gone"],
)
async def test_a_chosen_model_that_fails_gives_way_to_the_default_and_stays_chosen(
    wired_bot: StartBot, model_of: MakeModel, failure: Failure
) -> None:
    menu = ModelMenu((Candidate(BIG, model_of(failure)),))
    bot = await wired_bot("From the default.", "Again.", models=menu)
    await bot.hears("/model big")
    await bot.hears("hello")
    (first,) = await bot.made.base.store.run_records.newest(bot.channel.heard[0].chat, None, 1)
    await bot.hears("hello again")
    await bot.hears("/status")

    assert bot.screen[1] == "From the default.\n\n_Answered by scripted._"
    assert first.model == "scripted"
    assert bot.screen[2] == "Again."
    assert "**Model:** anthropic/big (set in this chat and its threads), failed lately" in bot.screen[3]


async def test_without_fallbacks_the_default_is_not_asked_twice(start_bot: StartBot) -> None:
    bot = await start_bot(Failure(FailureKind.AUTH, "revoked"), "never", models=offering("never"))

    await bot.hears("hello")

    assert len(bot.llm.requests) == 1


async def test_status_tells_the_model_of_the_chat_with_its_price_window_and_effort(start_bot: StartBot) -> None:
    bot = await start_bot(models=offering("Big."))
    await bot.hears("/model big")
    await bot.hears("/think high")
    await bot.hears("hello")

    await bot.hears("/status")

    lines = bot.screen[-1].splitlines()
    assert lines[0] == "- **Model:** anthropic/big (set in this chat and its threads)"
    where = "(set in this chat and its threads)"
    assert lines[1] == f"- **Thinking:** high {where}; **price:** $3 in, $15 out per million tokens"
    [(tokens, cost)] = rows(bot.home, "SELECT sum(tokens), sum(cost) FROM spending")
    assert isinstance(cost, int)
    assert lines[2] == f"- **Used here today:** {tokens:,} tokens, {money(cost)} USD"
    assert any(line.startswith("- **Context:**") and "of 200,000 tokens" in line for line in lines)


async def test_pictures_go_to_a_chosen_model_only_if_it_sees(start_bot: StartBot) -> None:
    blind = ScriptedLlm("I see a file.")
    bot = await start_bot("A cat.", models=ModelMenu((Candidate(BIG, blind),)))
    for choice in ("big", "default"):
        await bot.hears(f"/model {choice}")
        await bot.hears("what is it?", files={f"{choice}.png": b"\x89PNG\r\n\x1a\nIEND\xaeB`\x82"})

    def pictures(llm: ScriptedLlm) -> list[ImageContent]:
        said = [each for each in llm.requests[-1].messages if isinstance(each, UserMessage)]
        return [part for part in said[-1].content if isinstance(part, ImageContent)]

    assert pictures(blind) == []
    assert len(pictures(bot.llm)) == 1


async def test_the_cost_of_a_job_is_told_for_the_model_that_will_do_it(start_bot: StartBot) -> None:
    bot = await start_bot(models=offering(), settings={"member_models": frozenset({"some/other"})})
    job = a_job(Report(instructions="What is new?"), chat=bot.channel.chat("ann"))
    before = await bot.made.jobs.jobs.costs.expected(job, [], 0)
    await bot.hears("/model big everywhere")
    by_owner = await bot.made.jobs.jobs.costs.expected(job, [], 0)
    by_member = await bot.made.jobs.jobs.costs.expected(replace(job, person="bob"), [], 0)

    assert by_owner is not None
    assert by_owner.usd is not None
    assert before == by_member
    assert before is not None
    assert before.usd is None
