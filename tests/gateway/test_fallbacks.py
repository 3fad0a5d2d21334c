"""Another model answers when the first one fails, and users can see it."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agent_core.events import RetryScheduled
from agent_core.loop.model_chain import Candidate
from agent_core.models.llm import FailureKind, ModelInfo
from agent_core.models.scripted import CutOff, Failure, ScriptedLlm, Turn, Waits, calls
from agent_core.models.selection import ModelSettingError, choose_fallback
from gateway.delivery.progress import Progress
from gateway.settings.settings import load_settings
from tests.gateway.conftest import StartBot

BROKE = Failure(FailureKind.QUOTA, "no money")


def second(*turns: Turn) -> Candidate:
    return Candidate(ModelInfo(id="big_one", vision=True), ScriptedLlm(*turns))


async def test_the_answer_says_quietly_which_model_gave_it(wired_bot: StartBot) -> None:  # S2-33
    bot = await wired_bot(BROKE, fallbacks=[second("From me.", "Again me.")])

    await bot.hears("hello")
    await bot.hears("and now?")

    assert bot.screen == ["From me.\n\n_Answered by big\\_one._", "Again me."]
    assert len(bot.llm.requests) == 1  # the second message does not wait for the first model


async def test_what_a_chat_found_out_spares_a_task_the_wait(wired_bot: StartBot) -> None:
    by_second = second(calls(("task", {"prompt": "look"})), "Looked.", "Done.")
    bot = await wired_bot(BROKE, fallbacks=[by_second])

    await bot.hears("hello")

    assert bot.screen[-1].startswith("Done.")
    assert len(bot.llm.requests) == 1


async def test_the_usual_model_signs_nothing(wired_bot: StartBot) -> None:
    bot = await wired_bot("Hi.", fallbacks=[second("never")])

    await bot.hears("hello")

    assert bot.screen == ["Hi."]


async def test_where_all_fail_people_read_why(wired_bot: StartBot) -> None:  # S2-33
    bot = await wired_bot(BROKE, fallbacks=[second(Failure(FailureKind.AUTH, "no key"))])

    await bot.hears("hello")

    assert bot.screen[0].startswith("The model's provider refused the key.")


async def test_while_it_changes_over_people_see_who_is_asked(wired_bot: StartBot) -> None:
    go_on = asyncio.Event()
    bot = await wired_bot(BROKE, fallbacks=[second(Waits(go_on, "Hi."))])

    await bot.channel.hears("hello")
    await bot.channel.until(lambda: any("trying big" in shown for shown in bot.screen))
    go_on.set()
    await bot.app.settled()

    assert bot.screen[-1].startswith("Hi.")


@pytest.mark.parametrize(
    ("language", "shown"),
    [("en", "… one does not respond; trying two"), ("zh", "… one 没有回应，改用 two")],
)
def test_the_line_names_both_models(language: str, shown: str) -> None:
    progress = Progress("zh" if language == "zh" else "en")

    progress.apply(
        RetryScheduled(scope="llm", attempt=1, max_attempts=4, delay_s=0, error="x", model="one", next_model="two")
    )

    assert progress.text(0.0) == shown


async def test_owners_see_in_the_status_who_is_not_asked(wired_bot: StartBot) -> None:
    bot = await wired_bot(BROKE, fallbacks=[second("From me.")])
    await bot.hears("hello")

    await bot.hears("/status", sender="ann")
    await bot.hears("/status", sender="bob")

    assert "Paused models:** scripted for 15 min" in bot.screen[-2]
    assert "Paused" not in bot.screen[-1]


async def test_a_run_is_counted_for_the_model_that_answered(wired_bot: StartBot) -> None:
    bot = await wired_bot(BROKE, fallbacks=[second("From me.")])

    await bot.hears("hello")

    await bot.stop()
    with closing(sqlite3.connect(bot.home / "parley.db")) as connection:
        assert connection.execute("SELECT model FROM runs").fetchall() == [("big_one",)]


async def test_an_answer_in_two_parts_is_one_message(wired_bot: StartBot) -> None:  # S3-22
    bot = await wired_bot(CutOff("It goes on and o"), "n and on.")

    await bot.hears("tell me")

    assert bot.screen == ["It goes on and on and on."]


async def test_an_answer_that_is_too_long_even_so_says_that_it_ends(wired_bot: StartBot) -> None:  # S3-22
    bot = await wired_bot(CutOff("It goes "), CutOff("on and"))

    await bot.hears("tell me")

    assert bot.screen == ["It goes on and\n\n[The answer was too long and ends here]"]


def test_the_settings_take_a_list_of_models_and_a_level(tmp_path: Path) -> None:  # S4-27
    environ = {"HOME": str(tmp_path), "PARLEY_FALLBACKS": "openai/gpt-5.4, ollama/qwen3", "PARLEY_THINKING": "low"}

    settings = load_settings(environ, tmp_path)

    assert settings.fallbacks == ("openai/gpt-5.4", "ollama/qwen3")
    assert settings.thinking == "low"
    plain = load_settings({"HOME": str(tmp_path)}, tmp_path)
    assert (plain.fallbacks, plain.thinking) == ((), "off")


async def test_a_fallback_may_be_somewhere_else_than_the_own_server() -> None:
    own_server = {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}
    environ = {"ANTHROPIC_API_KEY": "sk-test", "OPENAI_API_KEY": "sk-other", **own_server}

    hosted = await choose_fallback("anthropic/claude-sonnet-5", environ)
    openais = await choose_fallback("openai/gpt-5.4-mini", environ)
    own = await choose_fallback("my-model", environ)

    # Explicit, because litellm also reads our environment.
    assert (openais.client, openais.base_url) == ("litellm", "https://api.openai.com/v1")
    assert (hosted.client, hosted.model.id) == ("litellm", "anthropic/claude-sonnet-5")
    assert (own.client, own.base_url) == ("openai", "http://127.0.0.1:1/v1")


async def test_a_fallback_that_cannot_be_asked_is_said_at_the_start() -> None:
    with pytest.raises(ModelSettingError, match="OPENAI_API_KEY"):
        await choose_fallback("openai/gpt-5.4", {})
