"""Each visitor of the page has conversations of their own: no other visitor ever gets a word of them."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, web
from aiohttp.test_utils import TestServer
from aiohttp.typedefs import Handler

from channels.attachments import Attachment
from channels.base import Button, ChatKey, Menu, MessageReceived, OutboundMessage
from channels.web.adapter import CHAT
from channels.web.conversation import Shown
from channels.web.requests import let_in
from channels.web.routes import routes_of
from channels.web.visitor import Visitor
from tests.page_server import Page, Screen, fresh, history, say, tab, text, upload, words_of

pytestmark = pytest.mark.both_loops

ANN, BOB = Visitor("telegram:1", "Ann"), Visitor("slack:T1:U2", "Bob")
STEPS = 60


@asynccontextmanager
async def served(page: Page) -> AsyncIterator[TestServer]:
    """Serve the page's routes to visitors named by a header, as the server's access control would let them in."""

    @web.middleware
    async def named(request: web.Request, handler: Handler) -> web.StreamResponse:
        let_in(request, {"ann": ANN, "bob": BOB, "owner": Visitor()}[request.headers["X-Visitor"]])
        return await handler(request)

    app = web.Application(middlewares=[named])
    app.add_routes(routes_of(page.channel))
    running = asyncio.create_task(page.channel.run(page.inbox, Menu()))
    async with TestServer(app) as server:
        assert isinstance(server, TestServer)
        yield server
        await page.channel.close()
    running.cancel()
    await asyncio.wait([running])


@dataclass
class Visit:
    """One visitor with a tab on each of two conversations; every word of theirs contains their name."""

    name: str
    visitor: Visitor
    client: ClientSession
    conversations: tuple[str, str] = field(default_factory=lambda: ("main", fresh()))
    files: list[str] = field(default_factory=list)
    expected: dict[str, int] = field(default_factory=dict)
    """Messages by conversation."""

    def chat(self, conversation: str) -> ChatKey:
        return self.visitor.chat(None if conversation == "main" else conversation)

    async def acts(self, page: Page, chance: random.Random, number: int, folder: Path) -> None:
        conversation = chance.choice(self.conversations)
        match chance.randrange(5):
            case 0 | 1:
                await say(self.client, f"{self.name} says {number}", conversation=conversation)
            case 2:
                await page.channel.send(self.chat(conversation), text(f"for {self.name}: {number}"), f"{number}")
            case 3:
                name = f"{self.name}-{number}.txt"
                (folder / name).write_text(self.name)
                file = Attachment(name=name, path=str(folder / name))
                await page.channel.send(
                    self.chat(conversation), OutboundMessage(markdown=f"for {self.name}", attachments=(file,)), name
                )
            case 4:
                _, body = await upload(self.client, {f"{self.name}.txt": self.name.encode()})
                self.files.append(body["files"][0]["reference"])
                return
        self.expected[conversation] = self.expected.get(conversation, 0) + 1


@asynccontextmanager
async def visiting(server: TestServer, name: str, visitor: Visitor) -> AsyncIterator[Visit]:
    async with ClientSession(server.make_url("/"), headers={"X-Visitor": name}) as client:
        yield Visit(name, visitor, client)


@pytest.mark.parametrize("seed", range(6))
async def test_two_visitors_never_see_a_word_of_each_other(tmp_path: Path, seed: int) -> None:
    page, chance = Page(tmp_path), random.Random(seed)  # noqa: S311
    async with served(page) as server, visiting(server, "ann", ANN) as ann, visiting(server, "bob", BOB) as bob:
        pages = {(each.name, one): await history(each.client, one) for each in (ann, bob) for one in each.conversations}
        for number in range(STEPS):
            await chance.choice((ann, bob)).acts(page, chance, number, tmp_path)

        for visit, other in ((ann, bob), (bob, ann)):
            seen: list[Any] = [await _list(visit)]
            for conversation in visit.conversations:
                past = await history(visit.client, conversation)
                assert len(past["messages"]) == visit.expected.get(conversation, 0)
                screen = await _followed(visit, conversation, pages[visit.name, conversation]["last"])
                assert len(screen.html) == visit.expected.get(conversation, 0)
                visit.files += [
                    file["url"].rpartition("/")[2] for each in past["messages"] for file in each["attachments"]
                ]
                seen += [past, screen.html, screen.listed]
            assert visit.name in str(seen)
            assert other.name not in str(seen)
        await _files_are_their_own(ann, bob)
        await _files_are_their_own(bob, ann)

    assert {event.chat.account for event in page.heard} <= {"telegram.1", "slack.T1.U2"}


async def _list(visit: Visit) -> list[dict[str, Any]]:
    async with visit.client.get("/api/conversations") as answer:
        rows: list[dict[str, Any]] = (await answer.json())["conversations"]
        return rows


async def _followed(visit: Visit, conversation: str, after: str) -> Screen:
    """Read all events of a conversation since the beginning."""
    async with tab(visit.client, after, conversation=conversation) as stream:
        return await stream.until(lambda screen: len(screen.html) == visit.expected.get(conversation, 0))


async def _files_are_their_own(mine: Visit, other: Visit) -> None:
    for reference in mine.files:
        async with mine.client.get(f"/api/files/{reference}") as answer:
            assert await answer.text() == mine.name
        async with other.client.get(f"/api/files/{reference}") as answer:
            assert answer.status == 404
        body = {"id": fresh(), "text": "", "files": [reference]}
        async with other.client.post("/api/messages", json=body) as answer:
            assert answer.status == 400


async def test_the_name_of_another_s_conversation_opens_one_of_one_s_own(tmp_path: Path) -> None:
    page = Page(tmp_path)
    async with served(page) as server, visiting(server, "ann", ANN) as ann, visiting(server, "bob", BOB) as bob:
        name = ann.conversations[1]
        await say(ann.client, "for my eyes only", conversation=name)
        assert (await history(bob.client, name))["messages"] == []
        async with bob.client.post("/api/conversations", json={"conversation": name, "deleted": True}) as answer:
            assert answer.status == 200
        assert [row["id"] for row in await _list(ann)] == [name]
        await say(bob.client, "me too", conversation=name)

        (kept,) = (await history(ann.client, name))["messages"]
    assert words_of(kept["html"]) == "for my eyes only"


async def test_files_of_this_machine_s_user_go_without_those_of_others(tmp_path: Path) -> None:
    page = Page(tmp_path)
    async with served(page) as server, visiting(server, "ann", ANN) as ann, visiting(server, "owner", Visitor()) as me:
        _, hers = await upload(ann.client, {"a.txt": b"ann"})
        _, mine = await upload(me.client, {"b.txt": b"me"})
        await page.channel.delete_files(Visitor().chat())
        assert await page.channel.uploads.find(hers["files"][0]["reference"]) is not None
        assert await page.channel.uploads.find(mine["files"][0]["reference"]) is None


async def test_events_say_who_acts(tmp_path: Path) -> None:
    page = Page(tmp_path)
    async with served(page) as server, visiting(server, "bob", BOB) as bob:
        await say(bob.client, "hello", conversation=bob.conversations[1])
    (event,) = page.heard
    assert isinstance(event, MessageReceived)
    assert (event.sender.id, event.sender.name) == ("slack:T1:U2", "Bob")
    assert str(event.chat) == f"web:slack.T1.U2:main:{bob.conversations[1]}"


@pytest.mark.parametrize("name", ["short", "a:b:c:d:e:f", "../../main", "x" * 65])
async def test_a_conversation_has_a_plain_name(tmp_path: Path, name: str) -> None:
    page = Page(tmp_path)
    async with page.open(), page.browser() as client:
        async with client.get("/api/history", params={"conversation": name}) as answer:
            assert (answer.status, await answer.text()) == (400, "there is no such conversation")
        async with client.post("/api/messages", json={"conversation": name, "id": fresh(), "text": "x"}) as answer:
            assert (answer.status, await answer.text()) == (400, "the request cannot be read: conversation")


async def test_a_conversation_is_exported_whole_and_in_order(tmp_path: Path) -> None:
    stored = [Shown(who="person", message_id=f"m{number}", markdown=f"said {number}", at=number) for number in range(7)]
    stored.append(
        Shown(who="parley", message_id="a", markdown="**done**", at=8, attachments=(Attachment(name="x.csv"),))
    )
    page = Page(tmp_path, stored=stored, page=3)
    async with page.open(), page.browser() as client, client.get("/api/conversations/export") as answer:
        assert answer.headers["Content-Disposition"] == 'attachment; filename="parley-main.md"'
        words = await answer.text()
    assert [line for line in words.splitlines() if line.startswith("said")] == [f"said {number}" for number in range(7)]
    assert words.startswith("## You, 1970-01-01 00:00 UTC\n\nsaid 0\n\n")
    assert words.endswith("## Parley, 1970-01-01 00:00 UTC\n\n**done**\n\n- x.csv\n\n\n")


async def test_a_question_and_a_report_are_announced_and_progress_is_not(tmp_path: Path) -> None:
    page, stop = Page(tmp_path), ((Button(label="Stop", action="/stop"),),)
    async with page.open(), page.browser() as client:
        last = (await history(client))["last"]
        async with tab(client, last) as stream:
            await page.channel.send(CHAT, OutboundMessage(markdown="Working", buttons=stop), "1")
            await page.channel.send(CHAT, text("May I run this? " * 50), "2")
            seen = await stream.until(lambda screen: len(screen.listed) == 2)
    assert seen.listed[0]["notice"] == ""
    assert seen.listed[1]["notice"].startswith("May I run this? May I")
    assert len(seen.listed[1]["notice"]) == 160
