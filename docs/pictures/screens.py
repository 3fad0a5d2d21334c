"""Takes the pictures of the page: `.venv/bin/python docs/pictures/screens.py [NAME ...]` (needs Chromium).

A small team has talked with Parley for two weeks; every screen is shown as it is then, on a desktop and a phone, light
and dark. Times, ids and tokens differ each time, so they are replaced before a picture is taken.
"""

import asyncio
import sys
import tempfile
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from io import BytesIO
from itertools import groupby
from pathlib import Path

from PIL import Image
from playwright.async_api import Browser, expect
from playwright.async_api import Page as Tab

from agent_core.models.llm import LlmRequest
from agent_core.models.scripted import SCRIPTED_MODEL, Turn, calls
from agent_core.skills.library import SkillLibrary
from agent_core.skills.skill import Origin
from agent_core.tools.calculator import calculator
from channels.memory import MemoryChannel, user
from gateway.admin.screens.nodes import NodesScreen
from gateway.permissions.roles import People
from gateway.store.nodes import NodeStatus
from gateway.web.address import Address
from gateway.web.page import Entrance
from tests.clock import OffsetClock
from tests.end_to_end.browser import chromium
from tests.gateway.admin.desk import LOADED, AdminWorld, admin_world
from tests.gateway.approving import acting
from tests.gateway.spent import spend
from tests.page_server import Page, say
from tests.process import REPOSITORY

FOLDER = Path(__file__).parent / "page"
A_FRIDAY = 1_795_170_240.0
"""Friday, 20 November 2026, 10:24 UTC."""
DAY = 86_400.0
CENT = 10**7
DESKTOP, PHONE = 1_100, 390
"""Pixels from left to right."""
COLOURS = 64
"""Of a picture, so that all of them stay small."""
HIGHEST = 1_600
"""Pixels of a picture; what is below is left out."""
NODES = "nodes"
"""Name of the screen that exists only where several machines share the work."""
CHAT = "chat"
"""Name of the pictures of the chat page, which is none of the admin pages."""
GUIDES = {f"connect-{each}": f"connect/{each}" for each in ("discord", "model", "slack", "telegram")}
"""Paths of the guides, shown at their first step, by the name of their pictures. They are taken in light only."""
MODEL = SCRIPTED_MODEL.model_copy(update={"id": "claude-sonnet-5", "input_price": 3.0, "output_price": 15.0})
PEOPLE = People(owners=frozenset({"telegram:ann"}), allow=frozenset({"telegram:bob"}))
BROWSERS = (
    ("telegram:ann", "Ann", "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0) Version/19.0 Safari/604.1", "203.0.113.7"),
    ("web:local", "", "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0", "127.0.0.1"),
)
"""Principals and names of those who have signed in, with their browsers and addresses."""

STILL = """() => {
  for (const time of document.querySelectorAll("time")) time.textContent = "20 Nov 2026 10:24";
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode())
    node.data = node.data
      .replace(/\\b[0-9a-f]{8,}(-[0-9a-f]{4,})*\\b/g, "1a2b3c4d")
      .replace(/127\\.0\\.0\\.1:\\d+/g, "127.0.0.1:8765")
      .replace(/\\/(tmp|dev\\/shm)\\/[\\w\\/.-]+/g, "~/.parley")
      .replace(/\\b\\d+(\\.\\d+)? (ms|s)\\b/g, "1 s");
}"""


@dataclass(frozen=True, order=True)
class Shot:
    """A picture of one screen."""

    width: int
    screen: str
    dark: bool

    @property
    def file(self) -> Path:
        device = "phone" if self.width == PHONE else "desktop"
        return FOLDER / f"{self.screen}-{device}-{'dark' if self.dark else 'light'}.png"


def answer(request: LlmRequest) -> Turn:
    """Answer what the people of the story ask."""
    asked = next(each for each in reversed(request.messages) if each.role == "user")
    words = "".join(part.text for part in asked.content if part.type == "text")
    is_first = request.messages[-1].role == "user"
    if "tickets" in words and is_first:
        return calls(("calculator", {"expression": "12 * 23.50 * 1.08"}))
    if "tickets" in words:
        return "Twelve tickets are **304.56** in all, fee included."
    if "tea" in words and is_first:
        return calls(("remember", {"fact": "Ann likes green tea"}))
    if "chart" in words and is_first:
        return calls(("run", {"command": ["python3", "chart.py", "sales.csv"]}))
    return "Noted."


@asynccontextmanager
async def team(home: Path) -> AsyncIterator[AdminWorld]:
    """Start a Parley that a small team has used for two weeks."""
    clock = OffsetClock.at(A_FRIDAY)
    channel = MemoryChannel(name="telegram", now=clock.time)
    turns: list[Turn] = [answer] * 100
    skills = SkillLibrary(((REPOSITORY / "skills", Origin.SHIPPED),), environ={})
    how = {"channel": channel, "people": PEOPLE, "clock": clock, "model": MODEL, "skills": skills}
    page = Page(home / "page", address=Address(url="https://parley.example"))
    async with (
        page.open(),
        admin_world(
            home, *turns, tools=(calculator, acting()), entrance=Entrance(page.server, page.guests), **how
        ) as world,
    ):
        for principal, person, agent, place in BROWSERS:
            await page.server.access.sessions.sign_in(principal, person, agent=agent, place=place)
        bot = world.bot
        await bot.hears("How much are twelve tickets at 23.50 each, plus 8 % fee?")
        await bot.hears("Please remember that I like green tea")
        await bot.hears("/budget all 5 USD a day")
        await bot.hears("/remind tomorrow at 9 order the tickets")
        await channel.presses("Confirm")
        await bot.hears("/cron add every weekday at 8 report on my notes")
        await channel.presses("Confirm")
        await channel.hears("@Parley what is on today?", sender=user("bob"), group="#team")
        await channel.hears("Hi, Bob told me about you. May I ask you things, too?", sender=user("zoe"))
        for day in range(14):
            for number, model in enumerate(("claude-sonnet-5", "claude-haiku-4-5", "qwen3")):
                cost = (3 - number) * (2 + day * 7 % 5) * CENT
                person = ("telegram:ann", "telegram:bob")[day % 2]
                await spend(bot.made.base.store, A_FRIDAY - day * DAY, cost, model=model, person=person)
        await bot.made.guards.budgets.load()
        async with world.client() as browser:
            await say(browser, "How much are twelve tickets at 23.50 each, plus 8 % fee?")
            await say(browser, "Please remember that I like green tea", conversation="c-garden-plans")
        await bot.app.settled()
        await channel.hears("Make a chart of sales.csv", sender=user("ann"))
        await channel.until(lambda: any("chart.py" in text for text in channel.screen))
        yield world


async def three_nodes() -> list[NodeStatus]:
    """Return the nodes of a team that has three machines, of which one is being stopped."""
    leases = {"oslo": ("receive telegram",), "bergen": ("duties", "receive discord"), "tromso": ()}
    return [
        NodeStatus(
            id=f"{number}" * 12,
            name=name,
            host=f"{name}.example.org",
            pid=4711 + number,
            version="0.1.0",
            started=A_FRIDAY - number * DAY,
            beat_age=0.2,
            is_draining=name == "tromso",
            settings="{}" if name != "tromso" else '{"model": "1a2b3c4d"}',
            skills="",
            unreachable="",
            chats=40 - 13 * number,
            runs=3 - number,
            leases=held,
        )
        for number, (name, held) in enumerate(leases.items())
    ]


def shots(names: list[str]) -> Iterator[Shot]:
    for name in names:
        for width in (DESKTOP, PHONE):
            for dark in (False,) if name in GUIDES else (False, True):
                yield Shot(width, name, dark)


async def take(world: AdminWorld, browser: Browser, wanted: Iterable[Shot]) -> dict[Shot, bytes]:
    """Return the pictures as PNG files. All of one width are taken in one tab, where each screen is opened once."""
    made: dict[Shot, bytes] = {}
    for width, of_width in groupby(sorted(wanted), key=lambda shot: shot.width):
        async with world.tab(browser, "overview", width=width) as tab:
            for screen, of_screen in groupby(of_width, key=lambda shot: shot.screen):
                with world.with_screen(NodesScreen(three_nodes)) if screen == NODES else nullcontext():
                    await _open(world, tab, screen)
                    made |= {shot: await _taken(tab, shot) for shot in of_screen}
    return made


async def _open(world: AdminWorld, tab: Tab, screen: str) -> None:
    if screen == CHAT:
        await tab.goto(world.server.url)
        await expect(tab.get_by_role("log")).to_contain_text("304.56")
        return
    await world.opens(tab, GUIDES.get(screen, screen))
    if screen in GUIDES:
        await expect(tab.get_by_role("button", name="Go on")).to_be_visible()


async def _taken(tab: Tab, shot: Shot) -> bytes:
    await tab.emulate_media(color_scheme="dark" if shot.dark else "light")
    await _still(tab)
    return await tab.screenshot(full_page=True, animations="disabled", caret="hide")


async def _still(tab: Tab) -> None:
    await tab.evaluate(LOADED)
    await tab.evaluate("document.fonts.ready.then(() => null)")
    await tab.evaluate(STILL)


def upper(picture: bytes) -> Image.Image:
    """Return the part of a picture that is kept."""
    image = Image.open(BytesIO(picture)).convert("RGB")
    return image.crop((0, 0, image.width, min(image.height, HIGHEST)))


def screens(world: AdminWorld) -> list[str]:
    return [CHAT, *(each.name for each in world.desk.screens), NODES, *GUIDES]


async def main(names: list[str]) -> None:
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as home:
        async with chromium() as browser, team(Path(home)) as world:
            for shot, picture in (await take(world, browser, shots(names or screens(world)))).items():
                upper(picture).quantize(COLOURS).save(shot.file, "PNG", optimize=True)
                sys.stdout.write(f"{shot.file.name}: {shot.file.stat().st_size // 1024} kB\n")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
