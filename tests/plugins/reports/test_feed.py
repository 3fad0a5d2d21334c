"""What is new in a feed: each entry is told once, whatever happens in between."""

from collections.abc import Sequence

from gateway.schedule.jobs.report_kinds import ReportOrder
from tests.agent_core.web.site import Site, sends
from tests.gateway.jobs.asking import press
from tests.gateway.jobs.conftest import StartTimedBot
from tests.gateway.jobs.kit import PARIS, TimedBot
from tests.gateway.tasking import rows


def has(site: Site, *titles: str) -> None:
    items = "".join(f"<item><title>{each}</title><link>/{each}</link></item>" for each in titles)
    body = f"<rss><channel><title>Blog</title>{items}</channel></rss>"
    site.pages["/feed"] = sends(body.encode(), "application/rss+xml")


async def watched(start_bot: StartTimedBot, site: Site) -> TimedBot:
    bot = await start_bot()
    await bot.hears(f"/report feed every day 8:00 {site.url}/feed")
    await press(bot, "Confirm")
    return bot


async def told(bot: TimedBot, day: int) -> Sequence[str]:
    """Return the titles in what comes on a day of November."""
    before = len(bot.screen)
    bot.at(f"2026-11-{day} 08:00")
    await bot.look()
    lines = "\n".join(bot.screen[before:]).splitlines()
    return [line[3:].partition("]")[0] for line in lines if line.startswith("- [")]


async def test_only_what_is_new_is_told(start_bot: StartTimedBot, site: Site) -> None:
    has(site, "two", "one")
    bot = await watched(start_bot, site)
    assert await told(bot, 24) == ["two", "one"]
    assert await told(bot, 25) == []
    has(site, "four", "three", "two")
    assert await told(bot, 26) == ["four", "three"]
    has(site)
    assert await told(bot, 27) == []
    has(site, "four", "one")
    assert await told(bot, 28) == []
    assert bot.llm.requests == []


async def test_a_feed_without_entries_is_watched_from_now_on(start_bot: StartTimedBot, site: Site) -> None:
    has(site)
    bot = await start_bot()
    await bot.hears(f"/report feed every day 8:00 {site.url}/feed")
    assert bot.screen[-1].endswith("**Now it would say:**\n\nNothing is new.")
    await press(bot, "Confirm")
    assert await told(bot, 24) == []
    has(site, "one")
    assert await told(bot, 25) == ["one"]


async def test_the_same_time_tells_the_same_after_a_crash(start_bot: StartTimedBot, site: Site) -> None:
    has(site, "one")
    bot = await watched(start_bot, site)
    await told(bot, 24)
    has(site, "two", "one")
    kind = bot.made.jobs.report_kinds.find("feed")
    job = await bot.job("ab0001")
    assert kind is not None
    order = ReportOrder(job.chat, job.person, "en", PARIS, job.words, bot.clock.time(), None, job.id, "again")
    first = await kind.make(order)
    assert (await kind.make(order)) == first
    assert "two" in first.text
    assert "one" not in first.text


async def test_a_page_that_is_no_feed_and_a_private_address_are_refused(start_bot: StartTimedBot, site: Site) -> None:
    site.pages["/page"] = "<p>Hello</p>"
    bot = await start_bot()
    await bot.hears(f"/report feed {site.url}/page")
    assert "is no feed (RSS or Atom)" in bot.screen[-1]
    await bot.hears("/report feed http://127.0.0.2:80/feed")
    assert "leads to a private or special address" in bot.screen[-1]


async def test_forgetting_somebody_forgets_what_their_feed_had(start_bot: StartTimedBot, site: Site) -> None:
    has(site, "one")
    bot = await watched(start_bot, site)
    await told(bot, 24)
    assert rows(bot.home, "SELECT count(*) FROM reports_told") == [(1,)]
    await bot.hears("/forget me")
    await press(bot, bot.channel.posts[-1][1].buttons[0][0].label)
    await bot.settled()
    assert rows(bot.home, "SELECT count(*) FROM reports_told") == [(0,)]
