"""Polls on Telegram, Slack and Discord, whose rules the emulated platforms check."""

from parley_poll.plugin import PollPlugin

from parley.testing import People, StartBot
from parley.testing.emulated import channel_of
from parley.testing.emulators.discord import DiscordEmulator
from parley.testing.emulators.slack import SlackEmulator
from parley.testing.emulators.telegram import TelegramEmulator

QUESTION = "/poll Lunch? | Pizza | Soup"


def owned_by(principal: str) -> People:
    return People(owners=frozenset({principal}), allow=frozenset())


async def test_a_vote_changes_the_message_in_telegram(start_bot: StartBot, telegram: TelegramEmulator) -> None:
    ann = telegram.person("Ann")
    await start_bot(plugins=(PollPlugin,), beside=(channel_of(telegram),), people=owned_by(f"telegram:{ann.id}"))
    chat = telegram.private(ann)

    await chat.says(ann, QUESTION)
    await chat.until(lambda seen: len(seen.screen) == 1 and "Pizza: 0" in seen.screen[0])
    await chat.presses(ann, "Pizza")
    await chat.until(lambda seen: len(seen.screen) == 1 and "Pizza: 1" in seen.screen[0])


async def test_a_vote_changes_the_message_in_slack(start_bot: StartBot, slack: SlackEmulator) -> None:
    ann = slack.person("Ann")
    await start_bot(plugins=(PollPlugin,), beside=(channel_of(slack),), people=owned_by(f"slack:{ann.id}"))
    chat = slack.private(ann)
    await slack.wait_for(lambda: slack.connected)

    await chat.says(ann, QUESTION.replace("/", "!"))
    await chat.until(lambda seen: len(seen.screen) == 1 and "Pizza: 0" in seen.screen[0])
    await chat.presses(ann, "Pizza")
    await chat.until(lambda seen: len(seen.screen) == 1 and "Pizza: 1" in seen.screen[0])


async def test_a_vote_changes_the_message_in_discord(start_bot: StartBot, discord: DiscordEmulator) -> None:
    ann = discord.person("Ann")
    await start_bot(plugins=(PollPlugin,), beside=(channel_of(discord),), people=owned_by(f"discord:{ann.id}"))
    chat = discord.private(ann)
    await discord.wait_for(lambda: discord.connected)

    await chat.says(ann, QUESTION)
    await chat.until(lambda seen: len(seen.screen) == 1 and "Pizza: 0" in seen.screen[0])
    await chat.presses(ann, "Pizza")
    await chat.until(lambda seen: len(seen.screen) == 1 and "Pizza: 1" in seen.screen[0])
