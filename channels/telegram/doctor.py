"""Checks for `parley doctor`: the bot exists and will receive messages."""

import asyncio
from collections.abc import Iterator

import aiohttp
from pydantic import ValidationError

from channels.checkup import Account, Finding, note, ok, problem
from channels.telegram.config import Config
from channels.values import Wire

WORD = "hello"
WITHIN = 5.0
"""Time limit for both requests together, in seconds."""


class _Bot(Wire):
    username: str = ""
    can_read_all_group_messages: bool = False


class _Webhook(Wire):
    url: str = ""


class _Answer(Wire):
    """Response of the Bot API."""

    ok: bool
    result: object = None
    error_code: int = 0
    description: str = ""


async def look(config: Config) -> Account:
    """Look at the bot. Never raises for network failures and never includes the token."""
    try:
        async with asyncio.timeout(WITHIN), aiohttp.ClientSession(trust_env=True) as session:
            me = await _ask(session, config, "getMe")
            webhook = await _ask(session, config, "getWebhookInfo") if me.ok else me
            return _refused(me) if not me.ok else _account(_Bot.model_validate(me.result), webhook)
    except (aiohttp.ClientError, TimeoutError):
        found = problem(f"telegram: could not reach {config.base_url}", "check the network, or TELEGRAM_BASE_URL")
    except (ValidationError, ValueError):
        found = problem(f"telegram: {config.base_url} does not respond like Telegram", "check TELEGRAM_BASE_URL")
    return Account([found])


async def _ask(session: aiohttp.ClientSession, config: Config, method: str) -> _Answer:
    url = f"{config.base_url.rstrip('/')}/bot{config.bot_token.get_secret_value()}/{method}"
    async with session.get(url) as answer:
        return _Answer.model_validate_json(await answer.read())


def _refused(answer: _Answer) -> Account:
    if answer.error_code in (401, 404):
        found = problem("telegram: the token is rejected", "copy it again from @BotFather to TELEGRAM_BOT_TOKEN")
        return Account([found], refused="bot_token")
    return Account([problem(f"telegram: {answer.description or answer.error_code}", "try again later")])


def _account(bot: _Bot, webhook: _Answer) -> Account:
    link = f"https://t.me/{bot.username}?start={WORD}"
    return Account(list(_verdict(bot, webhook)), f"@{bot.username}", link=link, word=WORD)


def _verdict(bot: _Bot, webhook: _Answer) -> Iterator[Finding]:
    yield ok(f"telegram: the bot is @{bot.username}")
    if webhook.ok and (url := _Webhook.model_validate(webhook.result).url):
        yield note(
            f"telegram: the bot has a webhook at {url.partition('://')[2].partition('/')[0]}",
            "Parley removes it at start; stop the program that set it, or it will take the messages again",
        )
    if not bot.can_read_all_group_messages:
        yield note(
            "telegram: in groups the bot sees only mentions, replies and commands",
            "to let it see all messages: @BotFather, /setprivacy, Disable, then add the bot to the group again",
        )
