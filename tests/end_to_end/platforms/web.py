"""The web page: one user and one conversation, over the HTTP interface of its script."""

import asyncio
import json
import re
from typing import Self, cast

from aiohttp import ClientError, ClientSession, ClientTimeout, CookieJar

from tests.end_to_end.platforms import platform
from tests.end_to_end.platforms.platform import Facts, within
from tests.end_to_end.platforms.web_chat import Chat, File, Person, Tab, Wire
from tests.end_to_end.program import START_SECONDS, Program
from tests.entering import sign_in

LINK = re.compile(r"http://127\.0\.0\.1:\d+/\?token=\S+")
BEGINS = "New conversation started"


class Web:
    facts = Facts(
        name="web",
        halves=True,
        files=True,
        photos=True,
        shows_typing=True,
        menu=True,
        knows_language=True,
        same_again=True,
    )

    def __init__(self) -> None:
        self._tab = Tab()
        self._links = 0
        self._reading: asyncio.Task[None] | None = None
        self._session: ClientSession | None = None
        self._chat: Chat | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._close()

    def settle(self, program: Program) -> None:
        self._program = program
        program.set("PARLEY_WEB", "on")
        program.set("PARLEY_PERMISSIONS_OWNER", "exec=ask")  # as for senders on other platforms
        program.set("PARLEY_WEB_PORT", "0")

    async def launch(self) -> None:
        self._links = len(LINK.findall(self._program.console))
        await self._program.launch()

    async def listening(self) -> None:
        await within(START_SECONDS, lambda: len(self._found()) > self._links, lambda: self._program.console)
        await self._close()
        link = self._found()[-1]
        self._session = ClientSession(
            link.partition("?")[0], cookie_jar=CookieJar(unsafe=True), timeout=ClientTimeout(total=None)
        )
        await sign_in(self._session, link)
        await self._until_somebody_listens()
        last = await self._read_all()
        self._chat = Chat(self._tab, self._session)
        self._reading = asyncio.create_task(self._follow(self._session, last))

    async def begin(self) -> None:
        if self._the_chat.worn:
            await self._start_over()
        before = self._beginnings  # the test that has just ended may have begun a conversation itself
        await self._the_chat.says(Person("local", "You", "en"), "/new")
        await self._the_chat.until(lambda _: self._beginnings > before)
        self._tab.begin()

    @property
    def _beginnings(self) -> int:
        return "\n".join(self._the_chat.screen).count(BEGINS)

    async def heard(self) -> None:
        """Return at once: a post is answered only after it is stored."""

    async def redeliver(self) -> None:
        await self._the_chat.again()

    async def menu(self) -> set[str]:
        async with self._client.get("/api/commands") as answer:
            return {each["name"] for each in await answer.json()}

    def check(self) -> None:
        if self._reading is not None and self._reading.done():
            self._reading.result()

    def person(self, name: str, language: str = "en") -> platform.Person:
        """Return the user of the page; there is only one, and the chat remembers the first language."""
        return Person("local", name, language)

    def private(self, _: platform.Person) -> platform.Chat:
        return cast("platform.Chat", self._the_chat)

    @property
    def _the_chat(self) -> Chat:
        if self._chat is None:
            raise AssertionError("nobody listens yet")
        return self._chat

    @property
    def _client(self) -> ClientSession:
        if self._session is None:
            raise AssertionError("nobody listens yet")
        return self._session

    def _found(self) -> list[str]:
        return LINK.findall(self._program.console)

    async def _start_over(self) -> None:
        await self._close()
        await self._program.kill()
        self._program.forget()
        self._tab.forget()
        await self.launch()
        await self.listening()

    async def _until_somebody_listens(self) -> None:
        """Wait until the program listens, from when on the page knows the commands."""
        for _ in range(START_SECONDS * 100):
            if await self.menu():
                return
            await asyncio.sleep(0.01)
        raise AssertionError(f"nobody listens: {self._program.console}")

    async def _read_all(self) -> str:
        """Read the whole history; return the id of its last event."""
        async with self._client.get("/api/history") as answer:
            told = await answer.json()
        self._tab.messages.clear()
        for message in told["messages"]:
            self._tab.put(message, await self._file(message))
        return str(told["last"])

    async def _follow(self, session: ClientSession, last: str) -> None:
        """Follow the event stream until the program is gone. An event that does not fit is an error, as the connection
        is never broken here."""
        try:
            async with session.get("/api/events", params={"after": last}) as stream:
                async for line in stream.content:
                    if line.startswith(b"data: "):
                        await self._take(json.loads(line[6:]))
        except ClientError:
            return

    async def _take(self, told: Wire) -> None:
        match told["type"]:
            case "message":
                self._tab.put(told, await self._file(told))
            case "edit":
                assert self._tab.edit(told, await self._file(told)), f"an edit that does not fit: {told}"
            case "delete":
                self._tab.delete(str(told["id"]))
            case "typing":
                self._tab.typing()
            case "listed":
                pass  # it is about the list of conversations, of which this user has one
            case kind:
                raise AssertionError(f"an event {kind}")

    async def _file(self, told: Wire) -> File | None:
        files = cast("list[dict[str, str]]", told["attachments"])
        if not files:
            return None
        async with self._client.get(files[0]["url"]) as answer:
            return File(files[0]["name"], await answer.read(), bool(files[0]["image"]))

    async def _close(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
        if self._session is not None:
            await self._session.close()
        self._reading = self._session = None
