"""The actions of a newcomer on the page, counted from its first link to an answer on the emulated Telegram."""

from dataclasses import dataclass, field

from playwright.async_api import Page as Tab
from playwright.async_api import expect

from tests.connecting import Platform
from tests.end_to_end.newcomer import ANSWER, FIRST
from tests.entering import enter


@dataclass
class PageNewcomer:
    """Somebody with a browser. Each link opened, with what it prepares, each line sent and each press is one action."""

    telegram: Platform
    tab: Tab
    actions: list[str] = field(default_factory=list)

    async def reaches_the_first_answer(self, link: str) -> None:
        """Sign in by the console's link, connect Telegram, and ask something there."""
        ann = self.telegram.emulator.person("Ann", language="en")
        chat = self.telegram.emulator.private(ann)
        self._does("open the link of the console and press its button")
        await enter(self.tab, link)
        self._does("press Telegram")
        await self.tab.locator("#offers").get_by_role("link", name="Telegram").click()
        opens = self.tab.get_by_role("link", name="Open Telegram")
        await expect(opens).to_have_attribute("href", self.telegram.link)
        for action in ("open the link and send /newbot", "send the name", "send the username"):
            self._does(action)
        await self._pastes("The token from @BotFather", self.telegram.tokens["TELEGRAM_BOT_TOKEN"])
        await expect(self.tab.get_by_text("I am waiting for it")).to_be_visible()
        self._does("open the link and press Start")
        word = str(await opens.get_attribute("href")).partition("?start=")[2]
        await chat.says(ann, f"/start {word}")
        await expect(self.tab.get_by_text("is connected on Telegram")).to_be_visible()
        self._does("ask something")
        await chat.says(ann, FIRST)
        await chat.until(lambda c: any(ANSWER in text for text in c.screen), 60.0)

    async def connects_a_model(self, wrong: str, right: str) -> None:
        """Paste a key that is refused, then the right one."""
        self._does("press Connect a model")
        await self.tab.get_by_role("link", name="Connect a model").click()
        await self._pastes("Or paste a provider's key", wrong)
        await expect(self.tab.get_by_text("refuses the key")).to_be_visible()
        await self._pastes("key of", right)
        await expect(self.tab.get_by_text("The running Parley uses it")).to_be_visible()

    async def _pastes(self, label: str, value: str) -> None:
        self._does("paste a token")
        await self.tab.get_by_label(label).fill(value)
        await self.tab.keyboard.press("Enter")

    def _does(self, action: str) -> None:
        self.actions.append(action)
