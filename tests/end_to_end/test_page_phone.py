"""A day on a phone: everything that the chat offers, by touch, in the dark."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from channels.base import Button, MessageReceived, OutboundMessage
from channels.web.adapter import CHAT
from tests.emulators.model_script import Pause, ToolUse, Turn
from tests.emulators.openai import OpenAiEmulator
from tests.end_to_end.browser import NEEDS_BROWSER
from tests.end_to_end.opened_page import link_of
from tests.end_to_end.program import forked
from tests.end_to_end.tabs import echoing, text, write
from tests.entering import enter
from tests.page_server import Page as Backend
from tests.process import until

pytestmark = [*NEEDS_BROWSER, pytest.mark.timeout(150)]

WIDTH = 390
RICH = """| what | how much |
| --- | ---: |
| tea | 12 |

- [x] boil water
- [ ] pour it

```python
def tea(cups: int) -> str: return "green"
```

It takes $t = \\frac{m}{P}$ minutes."""
PASTE = """([bytes, name, type, words]) => {
  const data = new DataTransfer();
  if (name) data.items.add(new File([new Uint8Array(bytes)], name, { type }));
  else data.setData("text/plain", "x".repeat(words));
  const how = { clipboardData: data, bubbles: true, cancelable: true };
  document.getElementById("text").dispatchEvent(new ClipboardEvent("paste", how));
}"""
DROP = """() => {
  const data = new DataTransfer();
  data.items.add(new File(["a,b\\n1,2\\n"], "sales.csv", { type: "text/csv" }));
  for (const type of ["dragover", "drop"])
    dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
}"""
AWAY = "Object.defineProperty(document, 'hidden', { get: () => true, configurable: true })"
NOTIFIED = """async (count) => {
  const worker = await navigator.serviceWorker.ready;
  for (const end = Date.now() + 30000; ; ) {
    if (Date.now() > end) throw new Error("not so many notifications after 30 s");
    const shown = await navigator.locks.request("parley-notifications", () => worker.getNotifications());
    if (shown.length >= count) return shown.map((each) => [each.body, each.data]);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}"""
"""Waits for so many notifications and returns them; under the page's lock, for looking disturbs what is being shown."""
AT_ONCE = """async (count) => {
  const { notify, takeBack } = await import("/notify.js");
  let showing = true;
  const look = async () => { while (showing) await takeBack("inbox-", new Set()); };
  const looking = [look(), look(), look(), look()];
  for (let number = 0; number < count; number++)
    await notify("Parley", { body: `${number}`, tag: `report-${number}`, data: "main" });
  showing = false;
  await Promise.all(looking);
}"""
"""Shows so many notifications while others are being looked for, to be taken back."""

COPIED = """async (words) => {
  while (await navigator.clipboard.readText() !== words) await new Promise((done) => setTimeout(done, 20));
}"""
"""Waits until these words are in the clipboard."""


@asynccontextmanager
async def phone(browser: Browser, link: str) -> AsyncIterator[Page]:
    context = await browser.new_context(
        locale="en-GB",
        timezone_id="UTC",
        viewport={"width": WIDTH, "height": 800},
        has_touch=True,
        is_mobile=True,
        color_scheme="dark",
    )
    context.set_default_timeout(30_000)
    await context.grant_permissions(["notifications", "clipboard-read", "clipboard-write"])
    page = await context.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    await enter(page, link)
    yield page
    assert await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    await context.close()
    assert wrong == []


@asynccontextmanager
async def talking(folder: Path, browser: Browser, *turns: Turn) -> AsyncIterator[Page]:
    async with OpenAiEmulator(turns, models=("test-model",)) as model:
        environ = {"OPENAI_BASE_URL": model.base_url, "OPENAI_API_KEY": "sk-test", "PARLEY_WEB_PORT": "0"}
        async with forked(folder, environ) as program, phone(browser, await link_of(program)) as page:
            yield page


async def says(page: Page, words: str) -> None:
    await page.get_by_label("Message").fill(words)
    await page.get_by_role("button", name="Send").tap()


async def answered(page: Page, words: str) -> None:
    """Wait until the newest answer is these words, and finished: what is said before that steers the run."""
    await expect(page.locator(".parley .bubble > .body").last).to_have_text(words)
    await expect(page.get_by_role("button", name="Stop")).to_have_count(0)


async def test_words_stream_thoughts_unfold_calls_open_and_the_answer_is_copied(
    browser: Browser, tmp_path: Path
) -> None:
    rest = asyncio.Event()
    turns = (
        Turn("It is Oslo.", thinking="Oslo is north.", chunk=7, pause=Pause(after=1, until=rest)),
        Turn(tools=(ToolUse("calculator", {"expression": "17 * 23"}),)),
        Turn("It is 391."),
    )
    async with talking(tmp_path, browser, *turns) as page:
        await says(page, "Where is north?")
        folded = page.locator("details.reasoning")
        await expect(folded).not_to_have_attribute("open", "")
        await folded.locator("summary").tap()
        await expect(folded).to_contain_text("Oslo is")
        rest.set()
        await answered(page, "It is Oslo.")

        await says(page, "Multiply 17 and 23")
        await answered(page, "It is 391.")
        row = page.locator("details.call")
        await row.locator("summary").tap()
        await expect(row.locator(".detail")).to_contain_text('"expression": "17 * 23"')
        await expect(row.locator(".detail")).to_contain_text("Result")
        await page.get_by_role("button", name="Copy", exact=True).last.tap()
        await page.evaluate(COPIED, "It is 391.")


async def test_an_answer_is_steered_stopped_edited_and_asked_for_again(browser: Browser, tmp_path: Path) -> None:
    later = asyncio.Event()
    turns = (
        Turn(tools=(ToolUse("calculator", {"expression": "17 * 23"}),), hold=later),
        Turn("Steered to 391."),
        Turn(deltas=("A long", " story."), pause=Pause(after=1, until=asyncio.Event())),
        Turn("A short one."),
        Turn("Another one."),
    )
    async with talking(tmp_path, browser, *turns) as page:
        last = page.locator(".parley .bubble > .body").last
        await says(page, "Multiply 17 and 23")
        await expect(page.get_by_role("button", name="Stop")).to_be_visible()
        await says(page, "and be brief")
        await expect(page.locator("article.person:not(.pending)")).to_have_count(2)  # it was accepted
        later.set()
        await answered(page, "Steered to 391.")

        await says(page, "Tell a story")
        await expect(page.locator(".live")).to_contain_text("A long")
        await page.get_by_role("button", name="Stop").tap()
        await expect(last).to_contain_text("A long")
        await expect(last).to_contain_text("stopped")
        await page.get_by_role("button", name="Edit").last.tap()
        await says(page, "Tell a short story")
        await answered(page, "A short one.")
        await page.get_by_role("button", name="Answer again").last.tap()
        await answered(page, "Another one.")


async def test_what_an_answer_has_in_it_fits_the_phone_and_new_draws_a_rule(browser: Browser, tmp_path: Path) -> None:
    async with talking(tmp_path, browser, Turn(RICH)) as page:
        log, box, choices = (
            page.get_by_role("log"),
            page.get_by_label("Message"),
            page.locator("#commands [role=option]"),
        )
        await says(page, "How do I make tea?")
        await expect(log.get_by_role("cell", name="12")).to_have_css("text-align", "right")
        await expect(log.get_by_role("checkbox")).to_have_count(2)
        await expect(log.get_by_role("checkbox").first).to_be_checked()
        keyword = log.locator("pre span", has_text="def").first
        assert await keyword.evaluate("it => getComputedStyle(it).color !== getComputedStyle(it.parentElement).color")
        await expect(log.locator("math mfrac")).to_have_count(1)

        await box.press_sequentially("/langu")
        await choices.first.tap()
        await expect(box).to_have_value("/language ")
        await expect(choices.first).to_be_visible()
        await says(page, "/new")
        await expect(log.locator("article.rule")).to_have_count(1)


async def test_what_is_to_be_decided_on_is_seen_whole(browser: Browser, tmp_path: Path) -> None:
    page = Backend(tmp_path)
    echoing(page)
    words = f"Hello, {'I am a stranger with much to say. ' * 5}{'x' * 200} The end."
    allow = ((Button(label="Allow", action="/stranger member abc"),),)
    async with page.open(), phone(browser, page.server.link) as tab:
        await says(tab, "hello")
        asks = OutboundMessage(markdown=f"Zoe wrote. May they talk to me?\n\n```\n{words}\n```", buttons=allow)
        await page.channel.send(CHAT, asks, "stranger")
        code = tab.locator("article pre").last
        await expect(code).to_contain_text("The end.")
        assert await code.evaluate("it => it.scrollWidth <= it.clientWidth")


async def test_files_are_pasted_and_dropped_with_previews_and_a_paste_of_50_mb_is_no_burden(
    browser: Browser, tmp_path: Path
) -> None:
    page = Backend(tmp_path)
    echoing(page)
    async with page.open(), phone(browser, page.server.link) as tab:
        files = tab.locator("#files li")
        red = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        await tab.evaluate(PASTE, [red, "red.png", "image/png", 0])
        await expect(files.locator("img")).to_have_count(1)
        await tab.evaluate(DROP)
        await expect(files.filter(has_text="sales.csv")).to_be_visible()
        await tab.evaluate(PASTE, [[], "", "", 50_000_000])
        await expect(tab.get_by_text("The text is long, so it goes as a file.")).to_be_visible()
        await expect(files.filter(has_text="pasted.txt")).to_contain_text("47.7 MB")
        await tab.evaluate(PASTE, [[], "", "", 53_000_000])
        await expect(files.last).to_contain_text("larger than")
        await files.last.get_by_role("button", name="Remove").tap()
        await expect(files).to_have_count(3)
        await expect(files.locator("progress:visible")).to_have_count(0)
        await write(tab, "here they are")
        await expect(tab.get_by_role("log").get_by_role("link", name="pasted.txt")).to_be_visible()
        await until(lambda: bool(_messages(page)))  # the page shows what is sent before the server has taken it in
        assert [each.name for each in _messages(page)[-1].attachments] == ["red.png", "sales.csv", "pasted.txt"]


def _messages(page: Backend) -> list[MessageReceived]:
    return [event for event in page.heard if isinstance(event, MessageReceived)]


async def test_a_question_and_a_report_are_notified_while_the_page_is_in_the_background(
    browser: Browser, tmp_path: Path
) -> None:
    page = Backend(tmp_path)
    echoing(page)
    other = CHAT.model_copy(update={"thread": "c-garden-plans"})
    yes = ((Button(label="Allow once", action="/approve abc"),),)
    async with page.open(), phone(browser, page.server.link) as tab:
        await tab.evaluate("navigator.serviceWorker.ready.then(() => null)")
        manifest = await tab.locator("link[rel=manifest]").get_attribute("href")
        await write(tab, "hello")  # the answer comes over the stream, so the page hears what follows
        await expect(tab.get_by_text("You said: hello")).to_be_visible()
        assert manifest == "/manifest.webmanifest"
        await tab.evaluate(AWAY)
        page.channel.listing.heard(other, "about the garden", 1.0)
        await page.channel.send(other, OutboundMessage(markdown="May I do this?", buttons=yes), "question")
        await page.channel.send(CHAT, text("Your report: all is well."), "report")
        shown = sorted(await tab.evaluate(NOTIFIED, 2))
        assert shown == [["May I do this?", "c-garden-plans"], ["Your report: all is well.", "main"]]


async def test_what_is_taken_back_meanwhile_makes_the_browser_forget_no_other_notification(
    browser: Browser, tmp_path: Path
) -> None:
    page = Backend(tmp_path)
    async with page.open(), phone(browser, page.server.link) as tab:
        await tab.evaluate("navigator.serviceWorker.ready.then(() => null)")
        await tab.evaluate(AT_ONCE, 20)
        shown = await tab.evaluate("navigator.serviceWorker.ready.then((it) => it.getNotifications())")
        assert len(shown) == 20
