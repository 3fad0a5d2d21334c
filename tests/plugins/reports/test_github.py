"""News of a public repository, and GitHub's refusals."""

import json
from collections.abc import Mapping

import pytest
from aiohttp import web

from tests.agent_core.web.site import Answer, Site, sends
from tests.gateway.jobs.asking import press
from tests.gateway.jobs.conftest import StartTimedBot

AT = "https://github.com/acme/rocket"


def answers(value: object) -> Answer:
    return sends(json.dumps(value).encode(), "application/json; charset=utf-8")


def issue(number: int, title: str, created: str, **more: object) -> Mapping[str, object]:
    return {"number": number, "title": title, "html_url": f"{AT}/issues/{number}", "created_at": created, **more}


def has(site: Site, *issues: object) -> None:
    release = {"name": "", "tag_name": "v2", "html_url": f"{AT}/releases/v2", "published_at": "2026-11-20T10:00:00Z"}
    draft = {"name": "next", "tag_name": "v3", "html_url": f"{AT}/releases/v3", "published_at": None}
    site.pages["/repos/acme/rocket/releases"] = answers([draft, release])
    site.pages["/repos/acme/rocket/issues"] = answers(issues)


async def test_what_happened_since_the_last_time_is_told(start_bot: StartTimedBot, site: Site) -> None:
    old = issue(1, "Old", "2026-01-01T00:00:00Z", closed_at="2026-11-22T10:00:00Z")
    pull = issue(3, "Faster [beta]", "2026-11-21T10:00:00Z", pull_request={"url": "x"})
    has(site, pull, issue(2, "It leaks", "2026-11-21T09:00:00Z"), old)
    bot = await start_bot()
    await bot.hears(f"/report github every day 9:00 {AT}")
    assert "> acme/rocket\n" in bot.screen[-1]
    said = bot.screen[-1].partition("**Now it would say:**\n\n")[2]
    assert said == (
        "**News of acme/rocket**\n\n"
        f"*Releases: 1*\n- [v2]({AT}/releases/v2)\n\n"
        f"*New pull requests: 1*\n- [#3 Faster \\[beta\\]]({AT}/issues/3)\n\n"
        f"*New issues: 1*\n- [#2 It leaks]({AT}/issues/2)\n\nClosed: 1"
    )

    await press(bot, "Confirm")
    bot.at("2026-11-23 09:00")
    await bot.look()
    assert bot.screen[-1].startswith("**News of acme/rocket**")
    count = len(bot.screen)
    bot.at("2026-11-24 09:00")
    await bot.look()
    assert len(bot.screen) == count
    has(site, issue(4, "New", "2026-11-24T20:00:00Z"))
    bot.at("2026-11-25 09:00")
    await bot.look()
    assert bot.screen[-1] == f"**News of acme/rocket**\n\n*New issues: 1*\n- [#4 New]({AT}/issues/4)"


@pytest.mark.parametrize("status", [403, 429])
async def test_a_rate_limit_is_told_as_one(start_bot: StartTimedBot, site: Site, status: int) -> None:
    async def limited(_: web.Request) -> web.StreamResponse:
        headers = {"X-RateLimit-Remaining": "0", "Retry-After": "1800"}
        return web.json_response({"message": "API rate limit exceeded"}, status=status, headers=headers)

    site.pages["/repos/acme/rocket/releases"] = limited
    bot = await start_bot()
    await bot.hears("/report github acme/rocket")
    assert bot.screen[-1].startswith("GitHub answers only 60 questions an hour from one address")


@pytest.mark.parametrize("name", ["acme/none", "just words here", "https://example.org/a/b/c", "../../etc"])
async def test_what_is_no_public_repository_is_told(start_bot: StartTimedBot, site: Site, name: str) -> None:
    bot = await start_bot()
    await bot.hears(f"/report github {name}")
    assert bot.screen[-1].startswith("GitHub has no public repository ")
