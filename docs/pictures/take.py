"""Takes the README's pictures: `.venv/bin/python docs/pictures/take.py` (needs Chromium, as the tests of the page do).

Parley itself talks to the emulated platforms and to an emulated model, whose answers and clock are given, so that the
pictures come out the same each time, but for the seconds that a run takes.
"""

import asyncio
import sys
import tempfile
from pathlib import Path

from playwright.async_api import Locator, Page, expect

from tests.emulators.model_script import Answer, ModelRequest, Pause, ToolUse, Turn, calls, says
from tests.emulators.openai import OpenAiEmulator
from tests.emulators.showroom.showroom import Showroom
from tests.end_to_end.browser import chromium
from tests.end_to_end.program import Program

HERE = Path(__file__).parent
PLATFORMS = ("telegram", "slack", "discord")
A_FRIDAY = 1_795_170_240.0
"""Friday, 20 November 2026, 10:24 UTC."""
PATIENCE = 30_000
"""Milliseconds; far more than anything here takes."""

QUESTION = (
    "Twelve tickets at 23.50 each, plus 8 % fee: what is that in all, and for each of the five of us? "
    "Please remember it."
)
TOTAL = ToolUse("calculator", {"expression": "12 * 23.50 * 1.08"})
SHARE = ToolUse("calculator", {"expression": "304.56 / 5"})
NOTE = ToolUse("remember", {"fact": "Tickets: 304.56 in all, 60.91 each"})
ANSWER = """\
That is **304.56** in all:

- twelve tickets: 282.00
- fee of 8 %: 22.56

For five it makes **60.91** each. I will remember it."""
FOLLOW_UP = "and if Eve comes along?"
SIX = ToolUse("calculator", {"expression": "304.56 / 6"})
TABLE = "compare the trains to Lyon on Saturday, in a table"
TABLE_ANSWER = """\
| Train | Leaves | Arrives | Price |
| --- | --- | --- | ---: |
| TGV 6607 | 08:58 | 10:56 | 49.00 |
| TGV 6611 | 10:58 | 12:56 | 39.00 |
| Ouigo 7811 | 12:36 | 14:43 | 19.00 |

The **Ouigo** is the cheapest, and early enough for the concert."""
SIX_ANSWER = "The twelve tickets stay the same, so it is **50.76** for each of six."


class Model:
    """Answers what Ann and Bob ask; the end of the answer to the first question waits for `gate`."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()

    def __call__(self, asked: ModelRequest) -> Answer:
        steps = 0
        for message in reversed(asked.messages):
            if message.get("role") == "user":
                break
            steps += message.get("role") == "assistant"
        if FOLLOW_UP in asked.texts("user")[-1]:
            return calls(SIX) if steps == 0 else says(SIX_ANSWER)
        if TABLE in asked.texts("user")[-1]:
            return says(TABLE_ANSWER)
        work = (TOTAL, SHARE, NOTE)
        return calls(work[steps]) if steps < len(work) else Turn(ANSWER, pause=Pause(after=5, until=self.gate))


def column(page: Page, platform: str) -> Locator:
    return page.locator(f".{platform}")


async def say(page: Page, platform: str, words: str) -> None:
    box = column(page, platform).get_by_role("textbox")
    await box.fill(words)
    await box.press("Enter")


async def enter(page: Page) -> None:
    """Telegram stays with Ann's own chat; on Slack and Discord the team reads along."""
    for platform, room in (("slack", "#team"), ("discord", "#general")):
        await column(page, platform).get_by_role("button", name=room).click()
    for platform in PLATFORMS:
        await expect(column(page, platform).get_by_text("connected", exact=True)).to_be_visible(timeout=PATIENCE)


async def become(page: Page, person: str) -> None:
    await page.get_by_text(person, exact=True).first.click()


async def shows(page: Page, platform: str, words: str) -> None:
    await expect(column(page, platform).locator(".by-bot .words").last).to_contain_text(words, timeout=PATIENCE)


async def shoot(shown: Page | Locator, name: str) -> None:
    page = shown if isinstance(shown, Page) else shown.page
    for tools in await page.locator("details:is(#models, .trouble)").all():
        await tools.evaluate("(each) => { each.style.display = 'none'; }")
    await page.get_by_role("heading", level=1).click()  # nothing has the focus, nothing is hovered over
    await shown.screenshot(path=HERE / name)
    sys.stdout.write(f"{name}: {(HERE / name).stat().st_size // 1024} kB\n")


async def converse(page: Page, model: Model) -> None:
    await say(page, "telegram", "/start")
    await shows(page, "telegram", "I am Parley")
    await become(page, "Bob")
    for platform in ("slack", "discord"):
        await say(page, platform, "The concert is on Saturday. Who orders the tickets?")
    await become(page, "Ann")
    await say(page, "telegram", QUESTION)
    for platform in ("slack", "discord"):
        await say(page, platform, f"@Parley {QUESTION}")
    for platform in PLATFORMS:
        await shows(page, platform, "304.56 in all")
    for platform in ("telegram", "slack"):
        await shoot(column(page, platform), f"{platform}.png")
    model.gate.set()
    for platform in PLATFORMS:
        await shows(page, platform, "60.91 each")


async def follow_up(page: Page) -> None:
    await become(page, "Bob")
    await column(page, "slack").get_by_role("button", name="Reply in thread").click()
    for platform in ("slack", "discord"):
        await say(page, platform, f"@Parley {FOLLOW_UP}")
    await become(page, "Ann")
    await say(page, "telegram", FOLLOW_UP)
    for platform in PLATFORMS:
        await shows(page, platform, "50.76")
    await say(page, "telegram", TABLE)
    for platform in ("slack", "discord"):
        await say(page, platform, f"@Parley {TABLE}")
    for platform in PLATFORMS:
        await shows(page, platform, "cheapest")
    await shoot(page, "three-platforms.png")
    await say(page, "discord", "/skills")
    await shows(page, "discord", "book-flight")
    await shoot(column(page, "discord"), "discord.png")


async def take(page: Page, model: Model, folder: Path, showroom: Showroom, server: OpenAiEmulator) -> None:
    environ = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "none", "PARLEY_MODEL": "test-model"}
    environ["PARLEY_WEB"] = "off"
    program = Program(folder, {**environ, "PARLEY_HOME": str(showroom.home.folder)})
    await program.launch()
    try:
        await page.goto(showroom.page.url)
        await enter(page)
        await converse(page, model)
        await follow_up(page)
    finally:
        await program.kill()
        sys.stdout.write(program.console)
    broken = [each.emulator.violations for each in showroom.exhibits if each.emulator.violations]
    if broken:
        raise AssertionError(broken)


async def main() -> None:
    model = Model()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        async with (
            Showroom(folder / "showroom", port=0, now=lambda: A_FRIDAY) as showroom,
            OpenAiEmulator(model, models=("a-model",)) as server,
            chromium() as browser,
        ):
            context = await browser.new_context(
                viewport={"width": 1440, "height": 900}, timezone_id="UTC", locale="en-GB", reduced_motion="reduce"
            )
            await take(await context.new_page(), model, folder, showroom, server)


if __name__ == "__main__":
    asyncio.run(main())
