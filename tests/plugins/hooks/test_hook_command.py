"""Owners and admins set webhooks by /hook; the secret is shown once, in private, and kept in no message."""

import re

import pytest

from channels.commands import Typed
from channels.memory import user
from gateway.plugins.hooks.plugin import HooksPlugin
from tests.gateway.conftest import StartBot
from tests.gateway.peopled import Platform
from tests.gateway.tasking import rows
from tests.plugins.hooks.sending import added, of_stripe, sent, shown_in


async def test_the_secret_is_shown_once_and_kept_in_no_message(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=(HooksPlugin,))

    hook = await added(bot, "github")

    assert hook.secret in bot.screen[-1]
    kept = str(rows(bot.home, "SELECT body FROM outbox")) + str(rows(bot.home, "SELECT payload FROM inbox"))
    assert hook.address in kept
    assert hook.secret not in kept
    await bot.hears("/hook")
    assert hook.secret not in bot.screen[-1]
    assert hook.address not in bot.screen[-1]


async def test_in_a_group_the_secret_comes_in_the_direct_chat(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=(HooksPlugin,), channel=Platform())

    await bot.hears("/hook add builds github", group="team")

    said = rows(bot.home, "SELECT chat, body FROM outbox ORDER BY at")
    [(_, in_group)] = [each for each in said if "#team" in str(each[0])]
    assert "I have sent you its address and secret in our direct chat" in str(in_group)
    [private] = [each for each in bot.screen if "/hooks/" in each]
    hook = shown_in(private, "github")
    assert (await sent(bot, hook, {"action": "opened"}, {"X-GitHub-Delivery": "1"})).status == 200
    assert rows(bot.home, "SELECT chat FROM hooks_events") == [("memory:here:#team",)]


@pytest.mark.parametrize("sender", ["bob", "mallory"])
async def test_nobody_else_sets_or_sees_any(start_bot: StartBot, sender: str) -> None:
    bot = await start_bot(plugins=(HooksPlugin,))
    for words in ("add builds", "list", "", "rm builds", "test builds", "secret builds"):
        await bot.hears(f"/hook {words}", sender=sender)

    assert rows(bot.home, "SELECT * FROM hooks") == []
    assert not any("/hooks/" in each for each in bot.screen)


async def test_the_secret_of_a_sender_is_taken_and_not_stored_in_the_message(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=(HooksPlugin,))
    await bot.hears("/hook add pay stripe")
    hook = shown_in(bot.screen[-1], "stripe")
    assert "signing secret" in bot.screen[-1]

    await bot.hears("/hook secret pay whsec_abcdefgh12345678")

    assert "whsec_abcdefgh12345678" not in str(rows(bot.home, "SELECT payload FROM inbox"))
    signed = {"sign": lambda _, body, now: of_stripe("whsec_abcdefgh12345678", body, now)}
    assert (await sent(bot, hook, {"id": "evt_1", "type": "charge.succeeded"}, **signed)).status == 200  # type: ignore[arg-type]
    assert bot.screen[-1].startswith("**Stripe: charge.succeeded**")


@pytest.mark.parametrize("between", ["\n", "\t", " \n ", "  "])
@pytest.mark.parametrize("before", ["secret ", "secret\n", "SECRET\t"])
async def test_a_typed_secret_is_taken_and_neither_shown_nor_stored_whatever_stands_before_it(
    start_bot: StartBot, before: str, between: str
) -> None:
    bot = await start_bot(plugins=(HooksPlugin,))
    await bot.hears("/hook add pay stripe")

    await bot.hears(f"/hook {before}pay{between}whsec_abcdefgh12345678")

    assert rows(bot.home, "SELECT secret FROM hooks") == [("whsec_abcdefgh12345678",)]
    kept = str(rows(bot.home, "SELECT body FROM outbox")) + str(rows(bot.home, "SELECT payload FROM inbox"))
    assert "abcdefgh" not in kept
    assert not any("abcdefgh" in each for each in bot.screen)


async def test_a_new_secret_ends_the_old_one(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=(HooksPlugin,))
    old = await added(bot)
    await bot.hears("/hook secret builds")
    new = shown_in(bot.screen[-1])

    assert (new.address, new.secret != old.secret) == (old.address, True)
    assert (await sent(bot, old, {"number": 1})).status == 401
    assert (await sent(bot, new, {"number": 1})).status == 200


async def test_a_webhook_is_tested_paused_resumed_and_removed(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=(HooksPlugin,))
    hook = await added(bot)

    await bot.hears("/hook test builds")
    assert any("This is a test" in each for each in bot.screen)
    await bot.hears("/hook pause builds")
    assert (await sent(bot, hook, {"number": 1})).status == 403
    await bot.hears("/hook resume builds")
    assert (await sent(bot, hook, {"number": 1})).status == 200
    await bot.hears("/hook")
    assert re.search(
        r"\*\*builds\*\* \(no. \d+, other\): tells each event. Set by Ann, last event: \d{4}-", bot.screen[-1]
    )
    await bot.hears("/hook rm builds")
    assert (await sent(bot, hook, {"number": 2})).status == 401
    assert (
        rows(
            bot.home, "SELECT * FROM hooks_events UNION ALL SELECT hook, delivery, at, 0, 0, 0, 0, 0, 0 FROM hooks_seen"
        )
        == []
    )


@pytest.mark.parametrize(
    "words", ["add", "add NAME! github", "add a nobody", "add 123", "dance", "post nothing x", "add ../x"]
)
async def test_what_cannot_be_meant_is_told(start_bot: StartBot, words: str) -> None:
    bot = await start_bot(plugins=(HooksPlugin,))

    await bot.hears(f"/hook {words}")

    assert rows(bot.home, "SELECT * FROM hooks") == []
    assert "hook" in bot.screen[-1]


async def test_two_of_a_name_are_refused_and_the_same_command_again_is_not(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=(HooksPlugin,))
    await added(bot)

    await bot.hears("/hook add builds github")

    assert "There is a webhook of this name" in bot.screen[-1]


async def test_in_chinese(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=(HooksPlugin,))

    await bot.hears("/hook add builds github", language="zh")
    hook = re.search(r"/hooks/([0-9a-f]{32})`", bot.screen[-1])

    assert hook
    assert "密钥（只显示这一次）" in bot.screen[-1]


async def test_the_names_of_the_chats_webhooks_are_offered(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=(HooksPlugin,))
    for name in ("builds", "alarms"):
        await added(bot, name=name)
    [option] = next(each for each in bot.made.commands.table.specs if each.name == "hook").options[1:2]
    typed = Typed(command="hook", option=option.name, text="b", before="pause")

    offered = await bot.made.commands.suggest(bot.channel.chat("ann"), user("ann"), typed)

    assert [each.value for each in offered] == ["builds"]
