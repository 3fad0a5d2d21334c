"""No text of a user, a model or a tool becomes script, style or an address of another kind in the page's HTML."""

import json
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from aiohttp import ClientSession, CookieJar
from yarl import URL

from agent_core.clock import new_id
from channels.attachments import Attachment
from channels.base import Button, Sender
from channels.web.conversation import Shown, on_the_wire
from channels.web.render import plain, render
from channels.web.visitor import Visitor
from gateway.admin.screen import Visit
from gateway.admin.templates import Templates
from gateway.permissions.roles import Role
from gateway.security.secrets import Secrets
from tests.examples import examples
from tests.hostile_text import FRAGMENTS, hostile_texts, live_parts
from tests.page_server import Page

COUNT = 25_000


def test_what_the_check_looks_for_is_found() -> None:
    assert live_parts("<img src=x onerror=hit()>") == ["img src=x", "img onerror"]
    assert live_parts("<a href=' JaVa\tscript:hit()'>") == ["a href= JaVa\tscript:hit()"]
    assert live_parts("<script>") == ["<script>"]
    assert live_parts("<p style='x'>") == ["p style"]
    assert live_parts('<a href="https://a.example" class="x">') == []


def test_hostile_texts_become_harmless_html() -> None:
    found = {}
    for text in hostile_texts(examples(COUNT)):
        for html in (render(text), plain(text)):
            if parts := live_parts(html):
                found[text] = parts
    assert found == {}


def test_hostile_names_titles_and_files_stay_text_in_what_the_page_is_sent() -> None:
    for text in hostile_texts(2_000, seed=16):
        button = Button(label=text, action="/x")
        shown = Shown(
            who="parley",
            message_id="m",
            markdown=text,
            reasoning=text,
            at=1.0,
            buttons=((button,),),
            attachments=(Attachment(name=text, reference="r"),),
        )
        wire = json.loads(json.dumps(on_the_wire(shown)))
        assert live_parts(wire["html"]) == live_parts(wire["reasoning"]) == []
        [file] = wire["attachments"]
        assert file["url"] == "/api/files/r", "a name is no part of an address"


def test_hostile_answers_of_commands_are_harmless_on_the_admin_pages() -> None:
    templates = Templates(lambda: ZoneInfo("UTC"), lambda *_: True, Secrets(), lambda: 0.0)
    visit = Visit(Visitor(), Sender(id="local", name="You"), Role.OWNER, "en", "", {}, "/admin/x")
    refused = [templates.part(visit, "_refused.html", {"text": text}) for text in hostile_texts(2_000, seed=17)]
    assert [parts for html in refused if (parts := live_parts(html))] == []


async def test_hostile_names_are_text_on_the_page_that_signs_in(tmp_path: Path) -> None:
    page = Page(tmp_path)
    async with page.open(), ClientSession(page.server.url, cookie_jar=CookieJar(unsafe=True)) as client:
        for text in FRAGMENTS:
            link = page.server.access.links.give(f"slack:{new_id()}", text)
            async with client.get(URL(page.server.link_of(link))) as answer:
                assert answer.status == 200
                assert live_parts((await answer.text()).partition("<body")[2]) == []


@pytest.mark.parametrize("query", ["next=//evil.example", "url=https://evil.example", "token=x&next=//evil.example"])
async def test_no_parameter_leads_to_another_site(tmp_path: Path, query: str) -> None:
    page = Page(tmp_path)
    async with page.open(), ClientSession(page.server.url, cookie_jar=CookieJar(unsafe=True)) as client:
        token = page.server.link.partition("=")[2]
        async with client.post(f"/sign-in?{query}", data={"token": token}, allow_redirects=False) as answer:
            assert answer.status == 200
            assert "evil" not in await answer.text()
        for path in (f"/?{query}", "//evil.example/", "/\\evil.example", "/%2f%2fevil.example"):
            async with client.get(URL(f"{page.server.url[:-1]}{path}", encoded=True), allow_redirects=False) as answer:
                assert "evil" not in answer.headers.get("Location", "")
