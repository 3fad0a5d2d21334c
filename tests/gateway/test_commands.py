"""Every command in both languages (S2-40), and who may stop a run or start a new conversation."""

import asyncio

import pytest

from agent_core.messages import text_of
from agent_core.models.scripted import Waits
from bench.commands import pages
from channels.base import ButtonPressed, ChannelError, ChatKey, CommandInvoked, Sender
from channels.limits import Limits
from channels.memory import MemoryChannel, user
from gateway.texts.say import LANGUAGES
from tests.gateway.conftest import StartBot


async def test_menus_are_made_from_the_one_table(start_bot: StartBot) -> None:  # S2-40
    table = (await start_bot(plugins=())).made.commands.table

    assert [spec.name for spec in table.specs] == [
        *("help", "status"),
        *("pair", "link", "page"),
        *("people", "allow", "role", "block", "whoami"),
        *("new", "rewind", "stop", "continue", "language", "retry"),
        *("queue", "btw"),
        *("model", "think", "tz"),
        *("context", "compact"),
        *("skills", "skill"),
        *("approve", "deny", "rules"),
        *("budget", "tasks"),
        *("sessions", "resume", "rename"),
        *("forget", "plugins", "config", "reload"),
        *("remind", "report", "cron"),
        "heartbeat",
    ]
    assert len({command.name for command in table.commands}) == len(table.commands)
    for spec in table.specs:
        assert set(spec.description) == set(LANGUAGES)
        assert all(0 < len(text) <= 100 for text in spec.description.values())


async def test_a_channel_is_given_the_menu(start_bot: StartBot) -> None:
    bot = await start_bot()
    await bot.channel.until(lambda: bot.channel.menu.commands == bot.made.commands.table.specs)


@pytest.mark.parametrize(
    ("command", "language", "words"),
    [
        ("/help more", "en", "- /language [en|zh] – Choose English or Chinese here"),
        ("/help more", "zh", "- /language [en|zh] – 选择语言"),
        ("/help 全部", "zh", "- /skill [load|unload|reload|install|update|remove|lock|unlock 名称] – "),
        ("/help remind", "en", "Write `/remind [TIME TEXT]`, for example `/remind tomorrow at 9 call Ann`."),
        ("/help /remind", "zh", "请发送 `/remind [时间 内容]`，例如 `/remind 明天9点 给安打电话`。"),
        ("/help nonsense", "en", "Unknown command /nonsense. See /help."),
        ("/rename", "en", "Write `/rename TITLE`, for example `/rename Garden plans`."),
        ("/rename", "zh", "请发送 `/rename 标题`，例如 `/rename 花园计划`。"),
        ("/help", "zh", "- /new – "),
        ("/status", "en", "**Model:** scripted (a test)"),
        ("/status", "zh", "**模型**：scripted (a test)"),
        ("/new", "en", "New conversation started."),
        ("/new", "zh", "已开始新的对话。"),
        ("/stop", "en", "Nothing is running here."),
        ("/stop", "zh", "这里没有正在运行的任务。"),
        ("/language", "en", "Which language should I use here?"),
        ("/language", "zh", "请选择语言"),
        ("/nonsense", "en", "Unknown command /nonsense. See /help."),
        ("/hlep", "en", "Unknown command /hlep. Did you mean /help?"),
        ("/hlep", "zh", "未知命令 /hlep，您是想用 /help 吗？"),
        ("/nonsense", "zh", "未知命令 /nonsense，请看 /help。"),
    ],
)
async def test_every_command_answers_in_the_person_s_language(
    start_bot: StartBot, command: str, language: str, words: str
) -> None:
    bot = await start_bot()

    await bot.hears(command, language=language)

    assert words in bot.screen[0]
    assert bot.llm.requests == []  # S2-39: commands never reach the model


async def test_help_lists_the_main_commands_and_on_request_all(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=())

    await bot.hears("/help")
    listed = [line.split()[1] for line in bot.screen[0].splitlines() if line.startswith("- /")]
    assert listed == ["/status", "/new", "/stop", "/model", "/skills", "/remind"]
    await bot.channel.presses("All commands")
    await bot.app.settled()

    commands = bot.made.commands.table.commands
    assert all(f"- /{command.name}" in bot.screen[-1] for command in commands if not command.hidden)
    assert not any(f"/{command.name} " in bot.screen[-1] for command in commands if command.hidden)


async def test_documents_menus_and_manifest_tell_what_the_table_holds(start_bot: StartBot) -> None:
    shown = [command for command in (await start_bot()).made.commands.table.commands if not command.hidden]

    stale = [path.name for path, text in pages(shown).items() if path.read_text("utf-8") != text]

    assert stale == [], "run `.venv/bin/python -m bench commands`"


async def test_a_command_with_arguments_has_an_example_that_fits_them(start_bot: StartBot) -> None:
    for command in (await start_bot()).made.commands.table.commands:
        if not command.hidden and command.arguments not in ("", "[ID]"):
            assert command.example, command.name
            for language in LANGUAGES:
                example = command.example if isinstance(command.example, str) else command.example[language]
                first = command.spec.options[0]
                assert not (first.required and first.choices) or example.split()[0] in first.choices


async def test_a_language_is_chosen_by_button_and_kept(start_bot: StartBot) -> None:
    bot = await start_bot()
    await bot.hears("/language", language="en")
    await bot.channel.presses("中文")
    await bot.app.settled()
    await bot.restart()
    await bot.hears("/stop", language="en")

    assert bot.screen == ["我会在这里使用中文。", "这里没有正在运行的任务。"]
    assert bot.channel.posts[0][1].buttons == ()


@pytest.mark.parametrize("wanted", ["zh", "ZH", "中文", " zh "])
async def test_a_language_is_chosen_by_its_name(start_bot: StartBot, wanted: str) -> None:
    bot = await start_bot()
    await bot.hears(f"/language {wanted}")
    await bot.hears("/language english")

    assert bot.screen == ["我会在这里使用中文。", "I will use English here."]


async def test_the_chosen_language_outlives_a_new_conversation(start_bot: StartBot) -> None:
    bot = await start_bot()
    await bot.hears("/language zh")
    await bot.hears("/new")

    assert bot.screen[-1].startswith("已开始新的对话。")


# Permission to stop


@pytest.mark.usefixtures("no_progress")
async def test_others_cannot_stop_a_run_and_its_person_can(start_bot: StartBot) -> None:  # D-11
    never = asyncio.Event()
    bot = await start_bot(Waits(never))
    await bot.channel.hears("think", sender="bob", group="team")
    await bot.channel.until(lambda: len(bot.llm.requests) == 1)

    await bot.channel.hears("/stop", sender="carl", group="team")
    await bot.channel.until(lambda: len(bot.screen) == 1)
    assert bot.screen == ["Only the person who asked, or an admin, can stop this."]
    await bot.hears("/stop", sender="bob", group="team")

    assert bot.screen[1:] == ["Stopped."]


async def test_an_owner_can_stop_anybody_s_run(start_bot: StartBot) -> None:  # D-11
    never = asyncio.Event()
    bot = await start_bot(Waits(never))
    await bot.channel.hears("think", sender="bob", group="team")
    await bot.channel.until(lambda: len(bot.llm.requests) == 1)

    await bot.hears("/stop", sender="ann", group="team")

    assert bot.screen == ["Stopped."]


async def test_the_button_of_the_progress_message_stops(start_bot: StartBot) -> None:
    never = asyncio.Event()
    bot = await start_bot(Waits(never))
    await bot.channel.hears("think")
    await bot.channel.until(lambda: len(bot.screen) == 1)

    await bot.channel.presses("Stop")
    await bot.app.settled()

    assert bot.screen == ["Stopped."]
    assert bot.channel.posts[0][1].buttons == ()


async def test_the_button_of_an_earlier_run_does_not_stop_the_next_one(start_bot: StartBot) -> None:
    goes_on = asyncio.Event()
    bot = await start_bot(Waits(goes_on, "Here it is."), Waits(goes_on, "And this."))
    await bot.channel.hears("think")
    await bot.channel.until(lambda: len(bot.screen) == 1)
    [(shown, message)] = bot.channel.posts
    [[stop]] = message.buttons
    goes_on.set()
    await bot.app.settled()
    goes_on.clear()
    await bot.channel.hears("and then?")
    await bot.channel.until(lambda: len(bot.llm.requests) == 2)

    late = ButtonPressed(
        event_id="late", chat=shown.chat, sender=user("ann"), at=2.0, message_id=shown.message_id, action=stop.action
    )
    await bot.channel.deliver(late)
    await bot.channel.until(lambda: "That has already ended." in bot.screen)
    goes_on.set()
    await bot.app.settled()

    assert bot.screen[-1] == "And this."


# Starting a new conversation


async def test_a_new_conversation_knows_nothing_of_the_last(start_bot: StartBot) -> None:
    bot = await start_bot("Hi.", "Who are you?")
    await bot.hears("I am Ann")
    await bot.hears("/new")
    await bot.hears("who am I?")

    assert [text_of(message.content) for message in bot.llm.requests[1].messages] == ["who am I?"]


async def test_new_while_running_stops_first_and_nothing_is_written_late(start_bot: StartBot) -> None:  # C-20
    old = Waits(asyncio.Event(), words="half")
    bot = await start_bot(old, "New.")
    await bot.channel.hears("old business")
    await old.reached.wait()
    await bot.channel.hears("and more of it")
    await bot.channel.hears("/new")
    await bot.channel.hears("new business")
    await bot.app.settled()

    assert bot.screen == [
        "half\n\n(stopped)",
        "New conversation started. Of the last one I keep only what you asked me to remember.",
        "New.",
    ]
    assert [text_of(message.content) for message in bot.llm.requests[1].messages] == ["new business"]


@pytest.mark.usefixtures("no_progress")
async def test_others_cannot_renew_what_somebody_else_runs(start_bot: StartBot) -> None:  # D-11
    said = asyncio.Event()
    bot = await start_bot(Waits(said, "Done."), "And?")
    await bot.channel.hears("think", sender="bob", group="team")
    await bot.channel.until(lambda: len(bot.llm.requests) == 1)
    await bot.channel.hears("/new", sender="carl", group="team")
    await bot.channel.until(lambda: len(bot.screen) == 1)
    said.set()
    await bot.app.settled()
    await bot.hears("go on", sender="bob", group="team")

    assert bot.screen == ["Only the person who asked, or an admin, can stop this.", "Done.", "And?"]
    assert len(bot.llm.requests[1].messages) == 3


async def test_a_new_conversation_is_still_new_after_a_restart(start_bot: StartBot) -> None:
    bot = await start_bot("Hi.", "Hello.")
    await bot.hears("one")
    await bot.hears("/new")
    await bot.restart()
    await bot.hears("two")

    assert len(bot.llm.requests[1].messages) == 1


async def test_who_waits_behind_a_run_that_is_renewed_is_heard_in_the_new_conversation(start_bot: StartBot) -> None:
    never = asyncio.Event()
    bot = await start_bot(Waits(never), "For Carl.")
    await bot.channel.hears("old", sender="bob", group="team")
    await bot.channel.until(lambda: len(bot.llm.requests) == 1)
    await bot.channel.hears("mine", sender="carl", group="team")
    await bot.channel.hears("/new", sender="bob", group="team")
    await bot.app.settled()

    assert "For Carl." in bot.screen
    assert [text_of(message.content) for message in bot.llm.requests[1].messages] == ["mine"]


async def test_status_tells_what_runs(start_bot: StartBot) -> None:
    never = asyncio.Event()
    bot = await start_bot(Waits(never))
    await bot.channel.hears("think")
    await bot.channel.until(lambda: len(bot.llm.requests) == 1)
    await bot.channel.hears("and more")
    await bot.channel.hears("/status")
    await bot.channel.until(lambda: any("1 waiting" in text for text in bot.screen))
    await bot.hears("/stop")


async def test_a_long_name_of_a_command_is_not_repeated_in_full(start_bot: StartBot) -> None:
    bot = await start_bot()

    await bot.hears("/" + "x" * 60)

    assert len(bot.screen) <= 1
    assert "x" * 41 not in "".join(bot.screen)


async def test_help_names_commands_as_the_platform_wants_them_typed(start_bot: StartBot) -> None:
    bot = await start_bot(channel=MemoryChannel(limits=Limits(max_text=4_000, slash="!")))

    await bot.hears("/help")
    await bot.hears("/dance")

    assert "- !new – Begin a new conversation" in bot.screen[0]
    assert bot.screen[1] == "Unknown command !dance. See !help."


class ClosingChannel(MemoryChannel):
    """Shows a command as running until it is closed, as Discord does."""

    def __init__(self) -> None:
        super().__init__()
        self.closed: list[str] = []

    async def close_command(self, chat: ChatKey, respond: str) -> None:
        self.closed.append(respond)
        raise ChannelError("it has run out", permanent=True)


async def test_a_command_without_an_answer_is_closed(start_bot: StartBot) -> None:
    channel = ClosingChannel()
    said = asyncio.Event()
    bot = await start_bot(Waits(said, "never said"), channel=channel)
    await channel.hears("think for ever")
    await channel.until(lambda: len(bot.llm.requests) == 1)

    stop = CommandInvoked(
        event_id="e",
        chat=channel.chat(),
        sender=Sender(id="ann", name="Ann"),
        at=1.0,
        message_id="m",
        name="stop",
        respond="there",
    )
    await channel.deliver(stop)
    await bot.app.settled()

    assert bot.screen == ["Stopped."]
    assert channel.closed == ["there"]


async def test_help_names_commands_as_they_are_given_there(start_bot: StartBot) -> None:
    channel = MemoryChannel(limits=Limits(max_text=4_000, slash="!"))
    bot = await start_bot(channel=channel)
    given = CommandInvoked(
        event_id="e",
        chat=channel.chat(),
        sender=Sender(id="ann", name="Ann"),
        at=1.0,
        message_id="m",
        name="help",
        slash="/parley ",
    )

    await channel.deliver(given)
    await bot.app.settled()

    assert "- /parley new – Begin a new conversation" in bot.screen[0]
