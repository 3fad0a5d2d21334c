"""On each platform an owner signs in to a calendar by a button and a browser, and asks what there is tomorrow."""

import re
from urllib.parse import parse_qsl, urlsplit

import aiohttp
import pytest

from tests.emulators.calendar_server import calendar, looks_at_tomorrow
from tests.emulators.sign_in_server import comes_back, sign_in_server
from tests.end_to_end.platforms.catalogue import where
from tests.end_to_end.platforms.platform import Chat, Person
from tests.end_to_end.stage import Stage, has, newest
from tests.end_to_end.tables import stored
from tests.process import until

ADDRESS = re.compile(r"\((http://127\.0\.0\.1:\d+/authorize[^)\s]+)\)")

pytestmark = pytest.mark.timeout(120)


def link_of(stage: Stage) -> str:
    """Return the address of the sign-in in the newest message."""
    bodies = " ".join(str(row) for row in stored(stage.program.home, "SELECT body FROM outbox ORDER BY at"))
    return str(ADDRESS.findall(bodies)[-1])


async def signs_in(stage: Stage, ann: Person, chat: Chat) -> None:
    """Sign in by the button, the browser, and the question whether it was oneself."""
    await chat.presses(ann, "Sign in")
    await until(lambda: "authorize" in str(stored(stage.program.home, "SELECT body FROM outbox")))
    link = link_of(stage)
    brought, back = await comes_back(link), dict(parse_qsl(urlsplit(link).query))["redirect_uri"]
    async with aiohttp.ClientSession() as browser:
        async with browser.get(back, params=brought) as asked:
            page = await asked.text()
            assert (asked.status, "<form" in page) == (200, True), page
        async with browser.post(back, data=brought) as done:
            assert done.status == 200, await done.text()
    # That a server has new tools is told by itself, before or after any of these.
    await chat.until(lambda seen: any("can be used now" in each for each in seen.screen))


@where(lambda facts: facts.name in {"telegram", "slack", "discord"})
async def test_an_owner_signs_in_to_a_calendar_and_asks_what_there_is_tomorrow(own_stage: Stage) -> None:
    stage, program = own_stage, own_stage.program
    ann, chat = stage.private("Ann")
    program.set("PARLEY_OWNERS", f"{stage.platform.facts.name}:{ann.id}")
    program.set("PARLEY_PLUGIN_MCP_LOCAL", "on")
    program.set("PARLEY_WEB", "on")
    program.set("PARLEY_WEB_PORT", "0")
    program.set("PARLEY_TIMEZONE", "UTC")
    stage.set_clock("2026-03-28 20:00")  # in Paris clocks go forward in the night
    stage.script.respond = lambda asked: looks_at_tomorrow(asked, "".join(asked.texts("tool")[-1:]))
    await stage.start()
    async with sign_in_server(calendar()) as server:
        server.who = "ann"
        await chat.says(ann, "/tz Europe/Paris")
        await chat.until(lambda seen: any("Paris" in each for each in seen.screen))
        await chat.says(ann, f"/mcp add calendar {server.url}")
        await chat.until(lambda seen: newest(seen).button("Sign in") is not None)
        await signs_in(stage, ann, chat)
        assert server.access

        await chat.says(ann, "/mcp calendar")
        await chat.until(lambda seen: any(each.button("Approve") for each in seen.bot_messages))
        await chat.presses(ann, "Approve")
        await chat.until(lambda seen: any("Approved: " in each for each in seen.screen))
        await chat.says(ann, "what do I have tomorrow?")
        await chat.until(has("Tomorrow ann has"))

    answer = next(each for each in chat.screen if "Tomorrow ann has" in each)
    times = re.findall(r"(\d\d:\d\d) ([A-Z][\w ]+)", answer)
    assert times == [("00:30", "Night train"), ("10:30", "Brunch with Lena"), ("23:30", "Call with Tokyo")]
