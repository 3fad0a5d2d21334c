"""What a newcomer does from the clone to the first answer on the emulated Telegram, counted."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from tests.connecting import Platform
from tests.end_to_end.typist import Startable, Typist

FIRST = "what is 17 * 23?"
ANSWER = "391"
WORD = re.compile(r"\?start=(\S+)")
"""The end of the link to the bot."""
INSTALL_SECONDS = 300.0
"""Longest installation that is waited for."""


@dataclass
class Newcomer:
    """Somebody without an editor. Each line typed, link opened or message sent is one action."""

    telegram: Platform
    start: Callable[[str], Startable]
    """Makes the program of `./run`, or of `./run COMMAND`."""
    listening: Callable[[Startable], Awaitable[None]]
    """Waits until a started program answers."""
    actions: list[str] = field(default_factory=list)

    async def reaches_the_first_answer(self) -> None:
        """Connect Telegram by the guide, start Parley, and ask something."""
        ann = self.telegram.emulator.person("Ann", language="en")
        chat = self.telegram.emulator.private(ann)
        await self._connects(lambda word: chat.says(ann, f"/start {word}"))
        self._does("./run")
        parley = self.start("run")
        parley.arguments = ()
        await parley.launch()
        try:
            await self.listening(parley)
            self._does("ask something")
            await chat.says(ann, FIRST)
            await chat.until(lambda c: any(ANSWER in text for text in c.screen), 60.0)
        finally:
            await parley.kill()

    async def _connects(self, presses_start: Callable[[str], Awaitable[object]]) -> None:
        self._does("./run connect telegram")
        async with Typist(self.start("connect"), "connect", "telegram") as typist:
            await typist.sees(self.telegram.link, INSTALL_SECONDS)
            for action in ("open the link and send /newbot", "send the name", "send the username"):
                self._does(action)
            self._does("paste the token")
            await typist.types(self.telegram.tokens["TELEGRAM_BOT_TOKEN"])
            await typist.sees("I am waiting for it")
            self._does("open the link and press Start")
            await presses_start(WORD.findall(typist.screen)[-1])
            await typist.sees("Start it with")
            assert await typist.ends() == 0

    def _does(self, action: str) -> None:
        self.actions.append(action)
