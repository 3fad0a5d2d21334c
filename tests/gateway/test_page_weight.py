"""The chat is light: what a browser loads before it can be used stays below 90 kB over the wire."""

import gzip
import re
from io import BytesIO
from pathlib import Path

from aiohttp import ClientSession
from PIL import Image

from gateway.web.access import TOKEN
from gateway.web.assets import PRIVATE_FILES
from tests.page_server import Page

MOST = 90_000
PAGE = re.compile(r'(?:src|href)="(/[a-z.]+)"')
IMPORT = re.compile(r'from "\./([a-z]+\.js)"')
AFTERWARDS = ("/admin/", "/manifest.webmanifest")
"""A link, and what only an installation asks for."""
CALLS = ("/api/history", "/api/about", "/api/conversations")


async def fetched(client: ClientSession, path: str) -> tuple[bytes, int]:
    """Return a response's body, and its bytes over the wire with the headers."""
    async with client.get(path, headers={"Accept-Encoding": "gzip"}) as answer:
        assert answer.status == 200, path
        body = await answer.read()
        sent = len(body) + sum(len(name) + len(value) + 4 for name, value in answer.raw_headers)
        plain = gzip.decompress(body) if answer.headers.get("Content-Encoding") == "gzip" else body
        return plain, sent


async def test_the_page_and_all_that_it_loads_weigh_less_than_90_kb(tmp_path: Path) -> None:
    page = Page(tmp_path)
    async with page.open(), page.browser() as client:
        signed_in = {cookie.key: cookie.value for cookie in client.cookie_jar}
        headers = {TOKEN: str(client.headers[TOKEN])}
        async with ClientSession(page.server.url, cookies=signed_in, headers=headers, auto_decompress=False) as browser:
            weights: dict[str, int] = {}
            waiting = ["/", *CALLS]
            while waiting:
                path = waiting.pop()
                if path in weights or path in AFTERWARDS:
                    continue
                body, weights[path] = await fetched(browser, path)
                if path == "/":
                    waiting += PAGE.findall(body.decode())
                elif path.endswith(".js"):
                    waiting += [f"/{name}" for name in IMPORT.findall(body.decode())]

    assert {f"/{name}" for name in PRIVATE_FILES} <= weights.keys(), "every script is loaded, or it should go"
    assert {"/chat.css", "/style.css", "/design.css"} <= weights.keys()
    assert sum(weights.values()) < MOST, weights
    assert weights["/chat.css"] < 7_000, "it is compressed"


async def test_what_may_not_be_kept_is_not_kept_and_the_worker_knows_the_shell_only(tmp_path: Path) -> None:
    page = Page(tmp_path)
    async with page.open(), page.browser() as client:
        for path in ("/", "/app.js", *CALLS):
            async with client.get(path) as answer:
                assert answer.headers["Cache-Control"] == "no-store"
        async with client.get("/worker.js") as answer:
            worker = await answer.text()
        async with client.get("/manifest.webmanifest") as answer:
            manifest = await answer.json(content_type="application/manifest+json")
        for icon in manifest["icons"]:
            async with client.get(icon["src"]) as answer:
                picture = Image.open(BytesIO(await answer.read())) if icon["type"] == "image/png" else None
                assert answer.content_type == icon["type"]
                assert picture is None or f"{picture.width}x{picture.height}" == icon["sizes"]
    assert {icon["purpose"] for icon in manifest["icons"]} == {"any", "maskable"}
    assert manifest["share_target"]["params"].keys() == {"title", "text", "url"}
    assert "/api/" not in worker
    kept = re.search(r"const SHELL = \[(.*)\]", worker)
    assert kept
    assert kept[1].split(", ") == ["OFFLINE", '"/design.css"', '"/style.css"', '"/chat.css"', '"/icon.svg"']
    assert (manifest["start_url"], manifest["display"]) == ("/", "standalone")
