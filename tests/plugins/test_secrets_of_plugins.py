"""A secret in a text of a plugin is masked on each way on which that text leaves Parley."""

from collections.abc import Sequence

import pytest

from agent_core.models.scripted import calls
from agent_core.tools.tool import Tool, tool
from channels.base import Button, OutboundMessage
from gateway.chat.replies import Answer, Rewritten, Settling
from gateway.commands.command import Command, Invocation, reply
from gateway.commands.press import Press, press_action
from gateway.permissions.rights import TALK, always
from gateway.plugin import Plugin
from gateway.security.secrets import Secrets
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.postgres import execute

SECRET = "hunter2-" + "correct-horse"
ROWS = "SELECT body FROM outbox UNION ALL SELECT message FROM transcript UNION ALL SELECT payload FROM inbox"


class Leaks(Plugin):
    """Says a secret in all that it says."""

    name = "leaks"
    tool_names = frozenset({"leak"})

    async def tell(self, given: Invocation) -> Answer:
        match given.arguments:
            case "button":
                return OutboundMessage(
                    markdown="press", buttons=((Button(label=SECRET, action=press_action("leaks", "tell")),),)
                )
            case "settled":
                return Settling(lambda _: reply(SECRET))
            case "rewritten":
                return Rewritten(reply(SECRET))
        return reply(f"it is {SECRET}")

    def commands(self) -> Sequence[Command]:
        return (Command("leak", {"en": "Leak", "zh": "泄露"}, self.tell, rights=always(TALK), arguments="[HOW]"),)

    def presses(self) -> Sequence[Press]:
        return (Press("tell", self.tell, always(TALK)),)

    def tools(self) -> Sequence[Tool]:
        @tool(label="Leaking", labels={"zh": "泄露"})
        async def leak() -> str:
            """Leak."""
            return f"it is {SECRET}"

        return (leak,)


async def leaking(start_bot: StartBot, *turns: object) -> Bot:
    return await start_bot(*turns, plugins=(Leaks,), secrets=Secrets([SECRET]))


def shows_nothing(bot: Bot) -> bool:
    """Return True if no message, request of the model or row has the secret."""
    said = [message.model_dump_json() for _, message in bot.channel.posts]
    asked = [str(request) for request in bot.llm.requests]
    return SECRET not in str([*said, *asked, *execute(bot.home, None, ROWS)])


@pytest.mark.parametrize("how", ["", "settled", "rewritten", "button"])
async def test_it_is_masked_in_what_commands_and_presses_answer(start_bot: StartBot, how: str) -> None:
    bot = await leaking(start_bot)

    await bot.hears(f"/leak {how}".rstrip())
    if how == "button":
        await bot.channel.presses("/leaks_tell")
        await bot.app.settled()

    assert len(bot.screen) == (2 if how == "button" else 1)
    assert shows_nothing(bot)


async def test_it_is_masked_in_what_tools_return(start_bot: StartBot) -> None:
    bot = await leaking(start_bot, calls(("leak", {})), f"It is {SECRET}.")

    await bot.hears("leak it")

    assert "it is" in str(bot.llm.requests[-1].messages)
    assert shows_nothing(bot)
