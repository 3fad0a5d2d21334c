"""People sign in to a server from a chat: in their browser, by themselves, for everybody or for each of them."""

import asyncio
import re
import sqlite3
from collections.abc import AsyncIterator
from urllib.parse import urlencode

import pytest

from agent_core.mcp.grants import SignInFailed
from agent_core.mcp.oauth import OAuth
from agent_core.models.scripted import calls
from gateway.plugins.mcp.addresses import may_reach
from gateway.web.route import Answer
from tests.clock import OffsetClock
from tests.emulators.sign_in_server import SignInServer, comes_back, leads_to, says, sign_in_server
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.remembering import RememberingChannel
from tests.plugins.mcp.serving import local
from tests.process import until

_ADDRESS = re.compile(r"\((http://127\.0\.0\.1:\d+/authorize[^)]+)\)")
PATH = "/mcp-sign-in"


@pytest.fixture
async def garden() -> AsyncIterator[SignInServer]:
    async with sign_in_server() as server:
        yield server


def address_in(text: str) -> str:
    found = _ADDRESS.search(text)
    assert found, text
    return found[1]


async def confirms(bot: Bot, brought: dict[str, str]) -> Answer:
    """Say on the page that it was this person."""
    answer = await bot.requests(PATH, "POST", urlencode(brought).encode())
    await bot.app.settled()
    return answer


async def signs_in(bot: Bot, garden: SignInServer, who: str = "ann", name: str = "garden") -> Answer:
    """Sign in from the direct chat of somebody."""
    garden.who = who
    await bot.hears(f"/mcp in {name}", sender=who)
    return await confirms(bot, await comes_back(address_in(bot.channel.screen_of(bot.channel.chat(who))[-1])))


async def approves(bot: Bot) -> None:
    """Approve what the server says of its tools, so that nobody has to be asked for each call."""
    await until(lambda: bot.made.base.servers.approved.waiting() == ["garden"])
    await bot.hears("/mcp garden")
    await bot.channel.presses("Approve")
    await bot.app.settled()


async def added(start_bot: StartBot, garden: SignInServer, *turns: object, each: bool = False, **how: object) -> Bot:
    bot = await start_bot(*turns, settings=local(), **how)
    await bot.hears(f"/mcp add garden {garden.url}{' each' if each else ''}")
    return bot


WATERS = calls(("garden_water", {"plant": "fern"}))


async def test_an_owner_signs_in_by_a_button_and_everybody_uses_the_account(
    start_bot: StartBot, garden: SignInServer
) -> None:
    bot = await added(start_bot, garden, WATERS, "Done.")
    assert "`garden` is added, and asks who uses it." in bot.screen[-1]

    await bot.channel.presses("Sign in")
    await bot.app.settled()
    garden.who = "ann"
    brought = await comes_back(address_in(bot.screen[-1]))
    asked = await bot.requests(PATH, "GET", query=brought)
    assert "garden" in asked.body.decode()
    assert "ann" in asked.body.decode().lower(), "it names who has begun this"
    assert garden.access == {}, "nothing was exchanged before somebody said so"
    done = await confirms(bot, brought)

    assert done.status == 200
    assert "`garden` can be used now. Tools: 1." in bot.screen[-1]
    await approves(bot)
    await bot.hears("water the fern", sender="bob")
    assert "ann waters the fern" in str(bot.llm.requests[-1].messages)


async def test_members_sign_in_for_themselves_and_each_call_is_made_with_the_account_of_who_asks(
    start_bot: StartBot, garden: SignInServer
) -> None:
    bot = await added(start_bot, garden, WATERS, "Done.", WATERS, "Done.", WATERS, "Sign in first.", each=True)
    for who in ("ann", "bob"):
        await signs_in(bot, garden, who)
    await approves(bot)

    for who in ("ann", "bob"):
        await bot.hears("water the fern", sender=who)
        assert f"{who} waters the fern" in str(bot.llm.requests[-1].messages)
    await bot.hears("water the fern", sender="carl")

    assert "waters the fern" not in str(bot.llm.requests[-1].messages)
    assert "has not signed in to the MCP server garden" in str(bot.llm.requests[-1].messages)
    await until(
        lambda: any("Sign in to `garden`, so that" in each for each in bot.channel.screen_of(bot.channel.chat("carl")))
    )


async def test_in_a_group_the_address_comes_alone(start_bot: StartBot, garden: SignInServer) -> None:
    channel = RememberingChannel()
    channel.reachable.add("ann")
    bot = await added(start_bot, garden, channel=channel)

    await bot.channel.hears("/mcp in garden", group="team")
    await bot.app.settled()

    assert "authorize" not in "".join(channel.screen_of(channel.chat(group="team")))
    await until(lambda: "authorize" in channel.screen_of(channel.chat("ann"))[-1])


async def test_only_owners_sign_in_for_everybody(start_bot: StartBot, garden: SignInServer) -> None:
    bot = await added(start_bot, garden)

    await bot.hears("/mcp in garden", sender="bob")

    assert "Only an owner" in bot.screen[-1]


async def test_an_access_that_has_ended_is_renewed_and_nobody_notices(
    start_bot: StartBot, garden: SignInServer
) -> None:
    bot = await added(start_bot, garden, WATERS, "Done.")
    await signs_in(bot, garden)
    await approves(bot)

    garden.end_access()
    await bot.hears("water the fern")

    assert "ann waters the fern" in str(bot.llm.requests[-1].messages)
    assert garden.renewals == 1


async def test_of_many_who_find_it_ended_one_renews_it(start_bot: StartBot, garden: SignInServer) -> None:
    bot = await added(start_bot, garden)
    await signs_in(bot, garden)
    accounts = bot.made.base.servers.accounts
    assert accounts is not None
    server = bot.made.base.servers.added["garden"]
    access = accounts.access("garden", server, "")
    token = await access.token()

    renewed = await asyncio.gather(*(access.renewed(token) for _ in range(5)))

    assert set(renewed) == set(garden.access) - {token}
    assert garden.renewals == 1


async def test_it_is_renewed_before_its_end_and_after_a_restart(start_bot: StartBot, garden: SignInServer) -> None:
    clock = OffsetClock()
    bot = await added(start_bot, garden, WATERS, "Done.", clock=clock)
    await signs_in(bot, garden)
    await approves(bot)

    await bot.restart()
    clock.ahead += 3590
    await until(lambda: bool(list(bot.made.agents.parts.others())))
    await bot.hears("water the fern")

    assert "ann waters the fern" in str(bot.llm.requests[-1].messages)
    assert garden.renewals == 1


async def test_a_refused_renewal_is_told_in_the_chat_with_the_button(start_bot: StartBot, garden: SignInServer) -> None:
    bot = await added(start_bot, garden, WATERS, "It does not let me in.")
    await signs_in(bot, garden)
    await approves(bot)

    garden.end_access()
    garden.refuses_renewal = True
    await bot.hears("water the fern")

    assert "garden asks for a sign-in" in str(bot.llm.requests[-1].messages)
    assert sum("Sign in to `garden` again" in each for each in bot.screen) == 1
    garden.refuses_renewal = False
    await bot.channel.presses("Sign in")
    await bot.app.settled()
    garden.who = "ann"
    await confirms(bot, await comes_back(address_in(bot.screen[-1])))
    assert "`garden` can be used now" in bot.screen[-1]


async def test_out_revokes_what_was_given_and_forgets_it(start_bot: StartBot, garden: SignInServer) -> None:
    bot = await added(start_bot, garden)
    await signs_in(bot, garden)
    [access], [refresh] = garden.access, garden.refresh

    await bot.hears("/mcp out garden")

    assert sorted(garden.revoked) == sorted([access, refresh])
    assert "signed out" in bot.screen[-1]
    assert accounts_of(bot) == []


async def test_removing_a_server_signs_everybody_out(start_bot: StartBot, garden: SignInServer) -> None:
    bot = await added(start_bot, garden, each=True)
    for who in ("ann", "bob"):
        await signs_in(bot, garden, who)

    await bot.hears("/mcp rm garden")

    assert not garden.access
    assert not garden.refresh
    assert accounts_of(bot) == []


async def test_tokens_are_kept_sealed_and_masked_everywhere(start_bot: StartBot, garden: SignInServer) -> None:
    bot = await added(start_bot, garden, lambda request: f"The token is {next(iter(garden.access))}.")
    await signs_in(bot, garden)
    [access], [refresh] = garden.access, garden.refresh

    await bot.hears("tell me")

    assert bot.screen[-1] == "The token is [secret]."
    kept = b"".join(file.read_bytes() for file in bot.home.rglob("*") if file.is_file())
    for token in (access, refresh):
        assert token.encode() not in kept
    assert (bot.home / "sealing.key").stat().st_mode & 0o077 == 0


async def test_with_another_key_people_sign_in_again(start_bot: StartBot, garden: SignInServer) -> None:
    bot = await added(start_bot, garden)
    await signs_in(bot, garden)
    await bot.stop()
    (bot.home / "sealing.key").unlink()

    await bot.restart()

    await until(lambda: (trouble := bot.made.base.servers.trouble("garden")) is not None and trouble.asks_sign_in)


# What comes back


async def test_a_browser_comes_back_once_within_ten_minutes_and_with_what_it_was_given(
    start_bot: StartBot, garden: SignInServer
) -> None:
    clock = OffsetClock()
    bot = await added(start_bot, garden, clock=clock)
    await bot.hears("/mcp in garden")
    brought = await comes_back(address_in(bot.screen[-1]))

    assert (await confirms(bot, {**brought, "state": "guessed"})).status == 404
    assert (await confirms(bot, brought)).status == 200
    assert (await confirms(bot, brought)).status == 404
    await bot.hears("/mcp in garden")
    late = await comes_back(address_in(bot.screen[-1]))
    clock.ahead += 601
    assert (await confirms(bot, late)).status == 404


async def test_who_has_lost_the_right_meanwhile_does_not_sign_in(start_bot: StartBot, garden: SignInServer) -> None:
    bot = await added(start_bot, garden, each=True)
    await bot.hears("/mcp in garden", sender="bob")
    brought = await comes_back(address_in(bot.channel.screen_of(bot.channel.chat("bob"))[-1]))

    await bot.hears("/block memory:bob")

    assert (await confirms(bot, brought)).status == 403
    assert garden.access == {}


async def test_a_server_in_place_of_one_that_is_removed_while_somebody_comes_back_gets_none_of_its_tokens(
    start_bot: StartBot, garden: SignInServer
) -> None:
    bot = await added(start_bot, garden)
    await bot.hears("/mcp in garden")
    brought = await comes_back(address_in(bot.screen[-1]))
    garden.held["/token"] = asyncio.Event()
    ending = asyncio.create_task(confirms(bot, brought))
    await until(lambda: "/token" in garden.asked)

    await bot.hears("/mcp rm garden")
    async with sign_in_server() as other:
        await bot.hears(f"/mcp add garden {other.url}")
        garden.held["/token"].set()
        answer = await ending

    assert answer.status == 404
    assert accounts_of(bot) == []
    assert garden.access == {}, "what was given is revoked"


async def test_an_answer_in_the_name_of_another_sign_in_server_is_refused(
    start_bot: StartBot, garden: SignInServer
) -> None:
    bot = await added(start_bot, garden)
    await bot.hears("/mcp in garden")
    brought = await comes_back(address_in(bot.screen[-1]))

    answer = await confirms(bot, {**brought, "iss": "https://evil.example"})

    assert answer.status == 400
    assert garden.access == {}


async def test_a_person_who_refuses_there_is_not_signed_in(start_bot: StartBot, garden: SignInServer) -> None:
    bot = await added(start_bot, garden)
    await bot.hears("/mcp in garden")
    brought = await comes_back(address_in(bot.screen[-1]))

    answer = await bot.requests(PATH, "GET", query={"state": brought["state"], "error": "<b>access_denied"})

    assert "was not signed in" in answer.body.decode()
    assert "<b>" not in answer.body.decode()
    assert (await confirms(bot, brought)).status == 404


# Servers that misbehave


@pytest.mark.parametrize(
    ("path", "how", "said"),
    [
        ("/.well-known/oauth-authorization-server", "issuer", "calls itself https://evil.example"),
        ("/.well-known/oauth-protected-resource/mcp", "resource", "which is another server"),
        ("/.well-known/oauth-protected-resource/mcp", "metadata", "a private address"),
        ("/.well-known/oauth-authorization-server", "endpoint", "a private address"),
        ("/.well-known/oauth-authorization-server", "plain", "without https"),
        ("/.well-known/oauth-authorization-server", "named", "a name or a password in it"),
        ("/.well-known/oauth-authorization-server", "pkce", "does not take PKCE"),
        ("/.well-known/oauth-authorization-server", "moved", "does not say where to sign in"),
        ("/register", "refused", "does not register Parley"),
    ],
)
async def test_a_sign_in_server_that_lies_or_leads_astray_is_refused_with_the_reason(
    start_bot: StartBot, garden: SignInServer, path: str, how: str, said: str
) -> None:
    bot = await added(start_bot, garden)
    origin = garden.url.removesuffix("/mcp")
    sound = {
        "issuer": origin,
        "authorization_endpoint": f"{origin}/authorize",
        "token_endpoint": f"{origin}/token",
        "registration_endpoint": f"{origin}/register",
        "response_types_supported": ["code"],
        "code_challenge_methods_supported": ["S256"],
    }
    garden.answers[path] = {
        "issuer": says(**{**sound, "issuer": "https://evil.example"}),
        "resource": says(resource="https://evil.example/mcp", authorization_servers=[origin]),
        "metadata": says(resource=garden.url, authorization_servers=["https://10.0.0.1"]),
        "endpoint": says(**{**sound, "token_endpoint": "https://169.254.169.254/token"}),
        "plain": says(**{**sound, "token_endpoint": "http://token.example/token"}),
        "named": says(**{**sound, "authorization_endpoint": "https://good.example@evil.example/authorize"}),
        "pkce": says(**{**sound, "code_challenge_methods_supported": ["plain"]}),
        "moved": leads_to("http://127.0.0.1:9/"),
        "refused": says(error="not you"),
    }[how]

    await bot.hears("/mcp in garden")

    assert "You cannot sign in to `garden`" in bot.screen[-1]
    assert said in bot.screen[-1]
    assert garden.clients == {}


async def test_a_sign_in_server_that_is_slow_is_given_up(
    start_bot: StartBot, garden: SignInServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = await added(start_bot, garden)
    garden.slow.add("/register")
    monkeypatch.setattr("agent_core.mcp.oauth.WITHIN", 0.5)

    await bot.hears("/mcp in garden")

    assert "does not answer in time" in bot.screen[-1]


async def test_without_the_setting_no_sign_in_server_of_this_machine_is_asked(garden: SignInServer) -> None:
    asked = len(garden.asked)

    with pytest.raises(SignInFailed, match="private or special address"):
        await OAuth(may_reach(local=False)).begin(garden.url, "https://parley.example/mcp-sign-in")

    assert len(garden.asked) == asked


def accounts_of(bot: Bot) -> list[tuple[str, ...]]:
    with sqlite3.connect(next(bot.home.glob("*.db"))) as store:
        return store.execute("SELECT server, person FROM mcp_accounts").fetchall()
