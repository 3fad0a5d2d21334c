"""Checks for `parley doctor`: the bot exists, may read messages, and has session starts left today."""

import asyncio
from collections.abc import Iterator
from http import HTTPStatus
from typing import NamedTuple

import aiohttp
from pydantic import ValidationError

from channels.checkup import Account, Finding, note, ok, problem
from channels.discord.config import MESSAGE_CONTENT_FLAGS, PORTAL, TOKEN_PAGE, Config, invite_url
from channels.discord.wire import GatewayAddress
from channels.values import Wire

WITHIN = 5.0
"""Time limit for all requests together, in seconds."""
FEW = 100
"""Remaining session starts per day below which the check reports a note."""


class _Bot(Wire):
    username: str


class _Application(Wire):
    id: str
    flags: int = 0
    approximate_guild_count: int | None = None


class _Answer(NamedTuple):
    status: int
    body: bytes


async def look(config: Config) -> Account:
    """Look at the bot. Never raises for network failures and never includes the token."""
    try:
        async with asyncio.timeout(WITHIN), aiohttp.ClientSession() as session:
            me = await _ask(session, config, "/users/@me")
            if me.status != HTTPStatus.OK:
                return _refused(me)
            application = await _ask(session, config, "/oauth2/applications/@me")
            gateway = await _ask(session, config, "/gateway/bot")
            return _account(_Bot.model_validate_json(me.body), application, gateway)
    except (aiohttp.ClientError, TimeoutError):
        found = problem(f"discord: could not reach {config.base_url}", "check the network, or DISCORD_BASE_URL")
    except (ValidationError, ValueError):
        found = problem(f"discord: {config.base_url} does not respond like Discord", "check DISCORD_BASE_URL")
    return Account([found])


async def _ask(session: aiohttp.ClientSession, config: Config, path: str) -> _Answer:
    headers = {"Authorization": f"Bot {config.bot_token.get_secret_value()}"}
    async with session.get(f"{config.base_url.rstrip('/')}{path}", headers=headers) as answer:
        return _Answer(answer.status, await answer.read())


def _refused(answer: _Answer) -> Account:
    if answer.status == HTTPStatus.UNAUTHORIZED:
        found = problem("discord: the token is rejected", f"copy it again to DISCORD_BOT_TOKEN: {TOKEN_PAGE}")
        return Account([found], refused="bot_token")
    return Account([problem(f"discord: {answer.status}", "try again later")])


def _account(bot: _Bot, about: _Answer, gateway: _Answer) -> Account:
    application = _Application.model_validate_json(about.body) if about.status == HTTPStatus.OK else None
    findings = [ok(f"discord: the bot is {bot.username}"), *_abilities(application), *_starts(gateway)]
    return Account(findings, f"@{bot.username}", link=invite_url(application.id) if application else "")


def _abilities(application: _Application | None) -> Iterator[Finding]:
    if application is None:
        return
    if not application.flags & MESSAGE_CONTENT_FLAGS:
        yield problem(
            "discord: the Message Content Intent is off, and without it Discord rejects the connection",
            f"turn it on: {PORTAL}, your application, Bot, Privileged Gateway Intents",
        )
    yield (note if application.approximate_guild_count == 0 else ok)(
        f"discord: to add the bot to a server, open {invite_url(application.id)}"
    )


def _starts(gateway: _Answer) -> Iterator[Finding]:
    if gateway.status == HTTPStatus.OK:
        left = GatewayAddress.model_validate_json(gateway.body).session_start_limit.remaining
        if left < FEW:
            yield problem(
                f"discord: {left} session starts are left today; at 0 Discord revokes the token",
                "find out what keeps restarting Parley, and stop it",
            )
