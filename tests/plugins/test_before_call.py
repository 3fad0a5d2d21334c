"""A plugin may refuse a tool call or have people asked about it, wherever the call comes from; it loosens nothing."""

import asyncio
from functools import partial
from itertools import product
from pathlib import Path
from typing import ClassVar, get_args

import pytest
from structlog.testing import capture_logs

from agent_core.loop.permissions import Proposal
from agent_core.models.scripted import calls
from channels.base import OutboundMessage
from gateway.permissions.gates import GATE_WITHIN, GATED, BeforeCall, Gates, Objection
from gateway.permissions.policy import Policy, Ruling
from gateway.plugin import Plugin
from gateway.settings.permissions import WORDS, PermissionSettings, Word
from gateway.store.job import Report
from gateway.store.rule import Once
from tests.agent_core.mcp.serving import emulated
from tests.clock import Hasty
from tests.gateway.approving import acting, asked, id_of, last_result, proposal, questions
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.jobs.conftest import StartTimedBot
from tests.gateway.jobs.conftest import start_bot as _start_timed_bot
from tests.gateway.jobs.kit import a_job, moment
from tests.gateway.test_always_here import TIDY, opened, programs
from tests.gateway.test_approved_tools import approved_in, running
from tests.plugins.gate import ASKED, REFUSED, Guard
from tests.plugins.test_presses import errors

start_timed_bot = _start_timed_bot
FREE = Policy(PermissionSettings(owner={**PermissionSettings().owner, "exec": "allow"}))
ASKING = Policy(PermissionSettings(owner={**PermissionSettings().owner, "exec": "ask"}))
NINE = Once(at=moment("2026-11-23 09:00"))
VAULT = calls(("run", {"command": ["cat", "/vault/gold"]}))
ATTIC = calls(("run", {"command": ["python3", "attic.py"]}))
CELLAR = calls(("run", {"command": ["cat", "/cellar"]}))


async def guarded(
    start_bot: StartBot, *turns: object, policy: Policy = FREE, **how: object
) -> tuple[Bot, list[list[str]]]:
    """Start a bot with the guard and a tool whose calls are recorded."""
    ran: list[list[str]] = []
    plugins = how.pop("plugins", (Guard,))
    tool = acting(ran=ran, idempotent=True)
    return await start_bot(*turns, tools=(tool,), policy=policy, plugins=plugins, **how), ran


def are_made(ran: list[list[str]], count: int) -> bool:
    return len(ran) == count


async def next_question(bot: Bot, answered: set[str]) -> OutboundMessage:
    """Wait for a question that is none of these, of which one may still be shown as open, and add it to them."""

    def others() -> list[OutboundMessage]:
        return [each for each in questions(bot) if id_of(each) not in answered]

    await bot.channel.until(lambda: bool(others()))
    [question] = others()
    answered.add(id_of(question))
    return question


async def press(bot: Bot, button: str) -> None:
    await bot.channel.presses(button)
    await bot.app.settled()


async def test_a_call_that_it_refuses_is_not_made_and_the_model_is_told_why(start_bot: StartBot) -> None:
    bot, ran = await guarded(start_bot, VAULT, CELLAR, "Done.")

    await bot.hears("look")

    assert ran == [["cat", "/cellar"]]
    assert REFUSED in str(bot.llm.requests[1].messages)
    assert bot.screen[-1] == "Done."


async def test_people_are_asked_with_its_reason_each_time(start_bot: StartBot) -> None:
    bot, ran = await guarded(start_bot, ATTIC, ATTIC, "Done.")

    await bot.channel.hears("look")
    answered = set[str]()
    for made in (1, 2):
        question = await next_question(bot, answered)
        assert ASKED in question.markdown
        assert [button.label for button in question.buttons[0]] == ["Allow once", "Deny"]
        await bot.channel.presses(question.buttons[0][0].action)
        await bot.channel.until(partial(are_made, ran, made))
    await bot.app.settled()

    assert bot.screen[-1] == "Done."


async def test_a_rule_of_always_does_not_answer_for_it(start_bot: StartBot) -> None:
    class Strict(Guard):
        async def before_call(self, call: Proposal) -> Objection | None:
            return Objection("guard_asks", asks=True)

    run, ran = programs()
    bot, _ = await opened(start_bot, run, TIDY, "Done.", TIDY, "Done again.")
    await asked(bot)
    await bot.channel.presses("Always here")
    await bot.channel.until(lambda: bot.screen[-1] == "Done.")
    await bot.hears("again")
    assert ran == ["echo tidy"] * 2
    await bot.stop()

    strict = await start_bot(TIDY, "No.", tools=(run,), plugins=(Strict,))
    await asked(strict)
    await press(strict, "Deny")

    assert ran == ["echo tidy"] * 2


async def test_a_question_that_is_open_at_a_restart_is_still_asked_when_the_plugin_is_gone(start_bot: StartBot) -> None:
    bot, _ = await guarded(start_bot, ATTIC, "Done.", policy=ASKING)
    await bot.channel.hears("look")
    await bot.channel.until(lambda: bool(questions(bot)))
    await bot.restart()

    await bot.channel.until(lambda: bool(questions(bot)))
    await press(bot, "Deny")

    assert bot.screen[-1] == "Done."


async def test_calls_of_tasks_are_refused_too(start_bot: StartBot) -> None:
    bot, ran = await guarded(start_bot, calls(("task", {"prompt": "look"})), VAULT, "The report.", "Done.")

    await bot.hears("have it looked at")

    assert ran == []
    assert REFUSED in str([request.messages for request in bot.llm.requests])


@pytest.mark.parametrize("call", [VAULT, ATTIC], ids=["refused", "to be asked about"])
async def test_calls_of_jobs_are_refused_too(start_timed_bot: StartTimedBot, call: object) -> None:
    ran: list[list[str]] = []
    bot = await start_timed_bot(call, "Nothing.", tools=(acting(ran=ran),), policy=FREE, plugins=(Guard,))
    await bot.has(a_job(Report(instructions="Look."), NINE))
    bot.at("2026-11-23 09:00")

    await bot.look()

    assert ran == []
    assert (REFUSED if call is VAULT else ASKED) in str(bot.llm.requests[-1].messages)
    assert "Nothing." in bot.screen[-1]


async def test_calls_of_tools_of_a_real_mcp_server_are_refused_too(start_bot: StartBot, tmp_path: Path) -> None:
    server = emulated()
    approved = approved_in(tmp_path, {"lab": server})
    free = Policy(PermissionSettings(owner=dict.fromkeys(PermissionSettings().owner, "allow")))
    touches, looks = (calls(("lab_echo", {"text": text})) for text in ("the vault/gold", "the cellar"))
    async with running(approved, server) as servers:
        bot = await start_bot(
            *(touches, looks, "Done."), policy=free, approved=approved, others=servers.tools, plugins=(Guard,)
        )

        await bot.hears("look")

        first, second = (str(request.messages[-1]) for request in bot.llm.requests[1:])
        assert REFUSED in first
        assert "the cellar" in second
        assert REFUSED not in second
        assert bot.screen[-1] == "Done."
        await bot.stop()


async def test_its_question_about_questions_of_the_model_is_none_but_its_refusal_holds(start_bot: StartBot) -> None:
    bot, _ = await guarded(start_bot, calls(("ask_user", {"question": "May I open vault/gold?"})), "Done.")

    await bot.hears("look")

    assert REFUSED in last_result(bot)
    assert bot.screen[-1] == "Done."


class Bad(Plugin):
    """Does wrong in one of several ways."""

    name = "bad"
    way: ClassVar[str] = ""
    texts: ClassVar = {"bad_facts": {"en": "It names {path}.", "zh": "{path}"}}

    async def before_call(self, call: Proposal) -> Objection | None:
        match self.way:
            case "raises":
                raise RuntimeError("no")
            case "hangs":
                await asyncio.get_running_loop().create_future()
            case "says what is no text":
                return Objection("there is no such text")
            case "leaves facts out":
                return Objection("bad_facts", asks=True)
            case "is odd":
                return True  # type: ignore[return-value]
        return None


@pytest.mark.parametrize("way", ["raises", "hangs", "says what is no text", "leaves facts out", "is odd"])
async def test_a_guard_that_fails_refuses_and_is_logged_by_name(start_bot: StartBot, way: str) -> None:
    kind = type("Way", (Bad,), {"way": way})
    bot, ran = await guarded(start_bot, CELLAR, "Done.", plugins=(kind,), clock=Hasty(GATE_WITHIN))

    with capture_logs() as logs:
        await bot.hears("look")

    assert ran == []
    assert "A plugin that has to agree to calls failed" in last_result(bot)
    assert ("a plugin failed", "bad") in errors(logs)
    assert bot.screen[-1] == "Done."


async def test_what_a_plugin_does_to_the_call_changes_nothing(start_bot: StartBot) -> None:
    class Swaps(Plugin):
        name = "swaps"

        async def before_call(self, call: Proposal) -> Objection | None:
            call.call.arguments["command"] = ["rm", "-r", "/"]
            return None

    bot, ran = await guarded(start_bot, CELLAR, "Done.", plugins=(Swaps,))

    await bot.hears("look")

    assert ran == [["cat", "/cellar"]]


def gate(objection: str | None) -> tuple[str, BeforeCall]:
    """Return a plugin's name and answer."""

    async def before_call(_: Proposal) -> Objection | None:
        return None if objection is None else Objection("guard_asks", asks=objection == "ask")

    return "gate", before_call


async def test_no_answers_of_plugins_make_a_ruling_looser(start_bot: StartBot, tmp_path: Path) -> None:
    await start_bot(plugins=(Guard,))  # for its texts
    words = get_args(Word)

    for word, objections in product(words, product((None, "ask", "deny"), repeat=2)):
        before = Ruling(word, ("acts_exec",), setting="owner.exec")
        after = await Gates([gate(each) for each in objections]).stricter(before, proposal(tmp_path))

        assert WORDS.index(after.behavior) == max(WORDS.index(each) for each in (word, *objections) if each)
        assert (GATED in after.reason) == (after.behavior == "ask" and "ask" in objections)
