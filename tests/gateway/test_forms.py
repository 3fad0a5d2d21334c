"""Forms for the arguments of commands: their fields come from the usage hint, and only those get one who may use it."""

import pytest

from channels.base import ChatKey
from channels.commands import Form, FormField, fields
from channels.memory import user
from gateway.permissions.roles import People
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot

ANN = frozenset({"memory:ann"})


async def form(bot: Bot, line: str, sender: str = "ann", chat: ChatKey | None = None) -> Form | None:
    return await bot.made.commands.form(chat or bot.channel.chat(sender), user(sender), line)


@pytest.mark.parametrize(
    ("usage", "begun", "labels", "required"),
    [
        ("[TIME TEXT]", 0, ["TIME", "TEXT"], [True, True]),
        ("[notes|chat] [TIME] [TEXT]", 0, ["action", "TIME", "TEXT"], [True, False, False]),
        ("[get|set|reset|more NAME TEXT]", 1, ["NAME", "TEXT"], [True, True]),
        ("ID TEXT", 1, ["TEXT"], [True]),
        ("[N]", 0, ["N"], [True]),
        ("", 0, [], []),
        ("ID", 1, [], []),
    ],
)
def test_the_fields_are_those_of_the_usage_hint(
    usage: str, begun: int, labels: list[str], required: list[bool]
) -> None:
    found = fields(usage, begun)
    assert [each.label for each in found] == labels
    assert [each.required for each in found] == required


async def test_the_forms_of_commands_are_in_the_persons_language(start_bot: StartBot) -> None:
    bot = await start_bot(people=People(ANN, frozenset()))
    assert await form(bot, "/remind") == Form(
        title="Set a reminder",
        fields=(FormField(label="Time", required=True), FormField(label="Text", required=True, is_long=True)),
    )
    report = await form(bot, "/report")
    assert report is not None
    assert report.fields[0].choices[:4] == ("notes", "chat", "page", "usage")  # plugins have more
    config = await form(bot, "/config set")
    assert config is not None
    assert [each.label for each in config.fields] == ["Name", "Text"]
    await bot.hears("/language zh")
    chinese = await form(bot, "/remind")
    assert chinese is not None
    assert [each.label for each in chinese.fields] == ["时间", "内容"]


async def test_a_command_that_takes_a_file_asks_for_one_in_place_of_what_is_not_written(start_bot: StartBot) -> None:
    bot = await start_bot(people=People(ANN, frozenset()))
    whole, install = await form(bot, "/skill"), await form(bot, "/skill install")
    assert whole is not None
    assert install is not None
    assert [(each.label, each.required) for each in whole.fields] == [("Action", True), ("Name", False)]
    assert [(each.label, each.required) for each in install.fields] == [("Name", False)]
    assert whole.file == install.file == "File"


@pytest.mark.parametrize("line", ["/remind x", "/config", "/config get", "/help", "/unknown", "/", "remind"])
async def test_other_commands_have_no_form(start_bot: StartBot, line: str) -> None:
    bot = await start_bot()
    assert (await form(bot, line) is None) == (line != "remind")


async def test_who_may_not_give_a_command_gets_no_form(start_bot: StartBot) -> None:
    bot = await start_bot(people=People(frozenset({"memory:olga"}), ANN))
    assert await form(bot, "/config set") is None
    assert await form(bot, "/remind") is not None
    assert await form(bot, "/remind", "eve") is None
