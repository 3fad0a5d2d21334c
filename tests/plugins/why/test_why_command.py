"""/why tells how an answer came about, and the button Details shows the calls of its run."""

import re

import pytest

from agent_core.models.scripted import calls
from agent_core.tools.tool import Tool, tool
from channels.base import ButtonPressed, OutboundMessage
from channels.memory import NO_PACE, MemoryChannel, Reply, user
from gateway.security.secrets import Secrets
from gateway.web.page import call_detail
from tests.gateway.approving import acting, asked
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.test_completions import offers
from tests.gateway.test_edited_prompt import edits
from tests.postgres import execute
from tests.process import until


def looking_up(channel: MemoryChannel) -> Tool:
    """Return a tool whose call takes until progress is shown in an empty chat."""

    @tool(acts="read", label="Looking up {word}")
    async def look_up(word: str) -> str:
        """Look up a word."""
        await until(lambda: bool(channel.screen))
        return f"{word} is a word."

    return look_up


async def looked_up(start_bot: StartBot, *more: object, **how: object) -> Bot:
    """Return a bot that has answered Ann with the help of one tool call."""
    channel = MemoryChannel(limits=NO_PACE)
    bot = await start_bot(
        calls(("look_up", {"word": "cat"})), "A cat.", *more, channel=channel, tools=(looking_up(channel),), **how
    )
    await bot.hears("What is a cat?")
    return bot


async def replies(bot: Bot, to: str, sender: str = "ann", language: str | None = None) -> str:
    """Give /why, in its long form, as a reply to our newest message with this text, and return the answer."""
    posted = next(posted for posted, message in reversed(bot.channel.posts) if to in message.markdown)
    await bot.hears("/why more", sender=sender, reply=Reply(posted.message_id), language=language)
    return bot.screen[-1]


async def presses_details(bot: Bot, sender: str = "ann", whisper: str | None = None) -> None:
    """Press the button under the folded progress of the newest run."""
    run = bot.channel.posts[-1][0]
    run_id = re.search(r"\*\*Run `(\w+)`\*\*", await replies(bot, "A cat."))
    assert run_id
    await bot.channel.deliver(
        ButtonPressed(
            event_id=f"press-{len(bot.channel.heard)}",
            chat=run.chat,
            sender=user(sender),
            at=1.0,
            message_id=run.message_id,
            action=f"/details {run_id[1]}",
            whisper=whisper,
        )
    )
    await bot.app.settled()


async def test_why_tells_run_trigger_model_skills_sources_rules_and_delivery(start_bot: StartBot) -> None:
    bot = await looked_up(start_bot)

    said = await replies(bot, "A cat.")

    assert re.search(r"- \*\*Run `\w{8}`\*\*: .+, \d+ s", said)
    assert "- **Because** Ann wrote: `What is a cat?`" in said
    assert re.search(r"- \*\*Model\*\*: scripted, [\d,]+ tokens", said)
    assert "- **Skills**: none" in said
    assert "- **Sources read**: none" in said
    assert "- `look_up`: setting `owner.read`" in said
    assert re.search(r"- \*\*Delivery\*\*: (sent|shown) ", said)


async def test_why_without_a_reply_is_about_the_last_answer_also_after_a_restart(start_bot: StartBot) -> None:
    bot = await looked_up(start_bot)
    await bot.restart()

    await bot.hears("/why")
    assert "What is a cat?" in bot.screen[-1]
    await bot.hears("/why", language="zh")
    assert "**起因**：Ann 写道：`What is a cat?`" in bot.screen[-1]


async def test_why_with_nothing_answered_says_so(start_bot: StartBot) -> None:
    bot = await start_bot()

    await bot.hears("/why")
    assert bot.screen[-1].startswith("I have not answered anything here yet.")
    await bot.hears("/why zzz'; DROP TABLE runs")
    assert bot.screen[-1].startswith("I know no run zzz'; drop table r")
    await bot.hears("/why", reply=Reply("no-such-message"))
    assert bot.screen[-1].startswith("That is not a message of mine.")


async def test_why_takes_the_id_of_a_run(start_bot: StartBot) -> None:
    bot = await looked_up(start_bot, "Noon.")
    first = await replies(bot, "A cat.")
    await bot.hears("What time is it?")
    run = re.search(r"Run `(\w+)`", first)
    assert run

    await bot.hears(f"/why {run[1]}")

    assert "What is a cat?" in bot.screen[-1]


async def test_why_about_a_command_s_reply_names_the_command(start_bot: StartBot) -> None:
    bot = await start_bot()
    await bot.hears("/help")

    said = await replies(bot, "/status")

    assert said.startswith("That message replies to the command or button `/help` of Ann; no model was asked.")


async def test_why_names_who_approved_a_call(start_bot: StartBot) -> None:
    bot = await start_bot(
        calls(("run", {"command": ["python3", "chart.py"]})), "Drawn.", tools=(acting(),), channel=MemoryChannel()
    )
    request = await asked(bot)
    await bot.hears(f"/approve {request}")

    said = await replies(bot, "Drawn.")

    assert f"- `run`: approved by Ann (`{request}`)" in said


async def test_others_see_nothing_of_a_run_in_a_group_and_owners_do(start_bot: StartBot) -> None:
    bot = await start_bot("Hello Bob.")
    await bot.hears("hello", sender="bob", group="team")

    await bot.hears("/why", sender="carl", group="team")
    assert bot.screen[-1] == "Only the person who asked, or an owner, can see this."
    await bot.hears("/why", sender="ann", group="team")
    assert "**Because** Bob wrote: `hello`" in bot.screen[-1]
    await bot.hears("/why", sender="bob", group="team")
    assert "**Because** Bob wrote: `hello`" in bot.screen[-1]


async def test_runs_of_other_chats_are_shown_only_in_an_owner_s_private_chat(start_bot: StartBot) -> None:
    bot = await start_bot("Hello Bob.")
    await bot.hears("hello", sender="bob")
    await bot.hears("/why", sender="bob")
    run = re.search(r"Run `(\w+)`", bot.screen[-1])
    assert run

    await bot.hears(f"/why {run[1]}", sender="ann", group="team")
    assert "I know no run" in bot.screen[-1]
    await bot.hears(f"/why {run[1]}", sender="carl")
    assert "I know no run" in bot.screen[-1]
    await bot.hears(f"/why {run[1]}", sender="ann")
    assert "Bob wrote" in bot.screen[-1]


async def test_quoted_words_cannot_mention_link_or_format(start_bot: StartBot) -> None:
    bot = await start_bot("Hi.")
    await bot.hears("<!channel> `x` [click](https://evil.example) \u202eabc")

    said = await replies(bot, "Hi.")

    assert "wrote: `⟨U+003C⟩!channel> 'x' [click](https://evil.example) ⟨U+202E⟩abc`" in said


@pytest.mark.parametrize("group", [None, "team"])
async def test_an_admin_asks_about_no_run_of_an_owners_private_chat(start_bot: StartBot, group: str | None) -> None:
    bot = await start_bot("Yes.", "Yes.")
    await bot.hears("/role memory:carl admin")
    await bot.hears("the merger is on Friday")
    await bot.hears("/why")
    named = re.search(r"\*\*Run `(\w+)`\*\*", bot.screen[-1])
    assert named is not None
    await bot.hears(f"/why {named[1]}", sender="carl", group=group)
    assert "merger" not in bot.screen[-1]
    assert named[1] in bot.screen[-1]
    await bot.hears("my own", sender="bob")
    await bot.hears("/why", sender="bob")
    named = re.search(r"\*\*Run `(\w+)`\*\*", bot.screen[-1])
    assert named is not None
    await bot.hears(f"/why {named[1]}", sender="carl")
    assert "my own" not in bot.screen[-1]
    await bot.hears(f"/why {named[1]}")
    assert "my own" in bot.screen[-1], "owners may"


async def test_an_answer_to_edited_words_is_explained_by_the_new_ones(start_bot: StartBot) -> None:
    bot = await start_bot("Oslo.", "Bergen.")
    await bot.hears("weather in Oslo")
    await edits(bot, "weather in Oslo", "weather in Bergen")

    await bot.hears("/why")

    assert "**Because** Ann wrote: `weather in Bergen`" in bot.screen[-1]


async def test_the_short_reply_is_replaced_by_the_long_one(start_bot: StartBot) -> None:
    bot = await start_bot("Hi.")
    await bot.hears("hello")
    await bot.hears("/why")
    short = bot.screen[-1]
    assert "**Because** Ann wrote: `hello`" in short
    assert "**Delivery**" not in short

    await bot.channel.presses("More")
    await bot.app.settled()

    assert "**Delivery**" in bot.screen[-1]
    assert short not in bot.screen
    [spec] = [each for each in bot.made.commands.table.specs if each.name == "why"]
    assert any("more" in (*option.choices, *option.proposals) for option in spec.options)


async def test_the_ids_of_runs_that_a_person_may_see_are_offered(start_bot: StartBot) -> None:
    bot = await start_bot("Hi Ann.", "Hi Bob.")
    await bot.hears("hello", sender="ann", group="team")
    await bot.hears("hello", sender="bob", group="team")
    bobs, anns = await bot.made.base.store.run_records.newest(bot.channel.chat(group="team"), None, 9)

    assert await offers(bot, "ann", "why", "id", group="team") == [bobs.run[:8], anns.run[:8]]
    assert await offers(bot, "bob", "why", "id", group="team") == [bobs.run[:8]]
    assert await offers(bot, "mallory", "why", "id", group="team") == []


# Details


def details_of(bot: Bot) -> list[OutboundMessage]:
    return [message for _, message in bot.channel.posts if "→" in message.markdown]


async def test_details_show_each_call_with_arguments_result_and_time(start_bot: StartBot) -> None:
    bot = await looked_up(start_bot)

    await presses_details(bot)

    [shown] = details_of(bot)
    assert re.match(r"\*\*1 tool, \d+ s\*\*, scripted", shown.markdown)
    assert re.search(r"1\\\. ✓ \*\*look\\_up\*\* \(\d+\.\d s\)  \n`word: cat`  \n→ `cat is a word\.`", shown.markdown)


async def test_details_show_a_call_whose_arguments_are_nested_too_deep_to_be_read(start_bot: StartBot) -> None:
    bot = await looked_up(start_bot)
    execute(bot.home, None, f"UPDATE tool_calls SET arguments = '{'[' * 100_000}'")  # noqa: S608

    await presses_details(bot)

    [shown] = details_of(bot)
    assert "**look\\_up**" in shown.markdown
    post = next(posted for posted, message in bot.channel.posts if message.markdown == "A cat.")
    ((call,),) = execute(bot.home, None, "SELECT call FROM tool_calls")
    detail = await call_detail(bot.made.base.store, post.chat, post.message_id, str(call))
    assert detail is not None
    assert detail.arguments.startswith("[[[")


async def test_details_pressed_again_edit_the_same_message(start_bot: StartBot) -> None:
    bot = await looked_up(start_bot)
    await presses_details(bot)

    await bot.restart()
    await presses_details(bot)

    assert len(details_of(bot)) == 1


async def test_details_are_whispered_where_the_platform_can(start_bot: StartBot) -> None:
    bot = await looked_up(start_bot)

    await presses_details(bot, whisper="only-ann")

    assert [each.respond for each in details_of(bot)] == ["only-ann"]


@pytest.mark.parametrize(
    ("language", "words"), [("en", "Nothing is known about this run"), ("zh", "这次运行的记录已不存在")]
)
async def test_details_of_an_unknown_run_say_so(start_bot: StartBot, language: str, words: str) -> None:
    bot = await start_bot()

    await bot.hears("/details abcdef12", language=language)
    assert bot.screen[-1].startswith(words)
    await bot.hears("/details", language=language)
    assert bot.screen[-1].startswith(words)


async def test_others_cannot_open_the_details(start_bot: StartBot) -> None:
    bot = await start_bot("Hello Bob.")
    await bot.hears("hello", sender="bob", group="team")
    await bot.hears("/why", sender="bob", group="team")
    run = re.search(r"Run `(\w+)`", bot.screen[-1])
    assert run

    await bot.hears(f"/details {run[1]}", sender="carl", group="team")

    assert bot.screen[-1] == "Only the person who asked, or an owner, can see this."


async def test_secrets_in_arguments_and_results_are_masked(start_bot: StartBot) -> None:
    secrets = Secrets(["xoxb-very-secret-1234567890"])
    channel = MemoryChannel(limits=NO_PACE)
    word = "xoxb-very-secret-1234567890"
    bot = await start_bot(
        calls(("look_up", {"word": word})), "A cat.", channel=channel, tools=(looking_up(channel),), secrets=secrets
    )
    await bot.hears("What is a cat?")

    await presses_details(bot)

    [shown] = details_of(bot)
    assert "very-secret" not in shown.markdown


@pytest.mark.parametrize("is_folded", [False, True], ids=["the answer", "the folded progress"])
async def test_a_long_run_has_the_button(
    start_bot: StartBot, monkeypatch: pytest.MonkeyPatch, *, is_folded: bool
) -> None:
    monkeypatch.setattr("gateway.delivery.progress_message.YOUNG", 0.0)
    if is_folded:
        monkeypatch.setattr("gateway.delivery.progress_message.DELETABLE", 0.0)
    bot = await looked_up(start_bot)

    [shown] = [message for _, message in bot.channel.posts if message.buttons]
    assert shown.silent is is_folded
    assert [button.label for row in shown.buttons for button in row] == ["Details"]
    await bot.channel.presses("Details")
    await bot.app.settled()

    assert len(details_of(bot)) == 1
