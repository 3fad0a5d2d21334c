"""The doctor on a Discord bot: token, intent, remaining session starts, and the invitation to a server."""

import pytest
from aiohttp import web

from channels.checkup import Finding
from channels.discord.config import Config
from channels.discord.doctor import look
from parley.testing.emulators.discord import DiscordEmulator
from parley.testing.emulators.discord_session import Intent
from parley.testing.emulators.server import LoopbackServer
from tests.channels.discord.conftest import config_for
from tests.channels.discord.payloads import TOKEN


def problems(findings: list[Finding]) -> list[str]:
    return [finding.what for finding in findings if finding.mark == "problem"]


def at(url: str) -> Config:
    return Config.model_validate({"bot_token": TOKEN, "base_url": url})


async def test_a_bot_that_is_well(discord: DiscordEmulator) -> None:
    findings = [*(await look(config_for(discord))).findings]

    assert problems(findings) == []
    assert findings[0].what == "discord: the bot is parley_bot"
    assert f"client_id={discord.application_id}&permissions=" in findings[1].what


async def test_a_missing_intent_and_its_place() -> None:
    async with DiscordEmulator(intents_granted=Intent.NONE) as discord:
        findings = [*(await look(config_for(discord))).findings]
    (found,) = [finding for finding in findings if finding.mark == "problem"]

    assert "Message Content Intent is off" in found.what
    assert "discord.com/developers/applications" in found.fix


async def test_a_refused_token(discord: DiscordEmulator) -> None:
    findings = [*(await look(at(discord.api_url))).findings]

    assert problems(findings) == ["discord: the token is rejected"]
    assert "DISCORD_BOT_TOKEN" in findings[0].fix
    assert not any(TOKEN in finding.what + finding.fix for finding in findings)


async def test_too_many_starts(discord: DiscordEmulator) -> None:
    discord.identifies_left = 60
    assert problems([*(await look(config_for(discord))).findings]) == [
        "discord: 60 session starts are left today; at 0 Discord revokes the token"
    ]


async def test_nobody_there(unused_tcp_port: int) -> None:
    (found,) = problems([*(await look(at(f"http://127.0.0.1:{unused_tcp_port}"))).findings])
    assert "could not reach" in found


class Stranger(LoopbackServer):
    """A server that answers every request with a page."""

    def routes(self) -> list[web.RouteDef]:
        async def page(_: web.Request) -> web.Response:
            return web.Response(text="<html>", content_type="text/html")

        return [web.get("/{tail:.*}", page)]


async def test_somebody_else_there() -> None:
    async with Stranger() as stranger:
        (found,) = problems([*(await look(at(stranger.url))).findings])
    assert "does not respond like Discord" in found


@pytest.mark.parametrize("status", [403, 500])
async def test_discord_in_trouble(discord: DiscordEmulator, status: int) -> None:
    discord.faults.fail("GET me", status=status)
    assert problems([*(await look(config_for(discord))).findings]) == [f"discord: {status}"]
