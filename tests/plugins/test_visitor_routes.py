"""Plugins answer the page's scripts in browsers that are signed in, and add scripts of their own."""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import pytest

from gateway.app.plugin_routes import scripts_of
from gateway.app.plugins import PluginFailed
from gateway.plugin import Plugin, Running
from gateway.web.route import Answer, Asked, Opening, Route
from tests.gateway.admin.desk import admin_world

SCRIPT = Path(__file__).parent / "greets.js"


class Greets(Plugin):
    """Greets whoever looks at the page."""

    name = "greets"
    open_paths: ClassVar[Mapping[str, Opening]] = {
        "/greets": Opening(("GET", "POST"), most_bytes=10, for_visitors=True, is_named=True)
    }

    def routes(self, running: Running) -> Mapping[str, Route]:
        async def greet(asked: Asked) -> Answer:
            assert asked.visitor is not None
            body = (await asked.body()).decode()
            return Answer(
                f"{asked.method} {asked.name} {asked.visitor.principal} {bool(asked.browser)} {body}".encode()
            )

        return {"/greets": greet}


async def test_a_route_for_visitors_is_told_who_asks(tmp_path: Path) -> None:
    async with admin_world(tmp_path, plugins=(Greets,)) as world, world.client() as client:
        async with client.get("/greets/ann") as answer:
            assert await answer.text() == "GET ann web:local True "
        async with client.post("/greets/ann", data=b"hello") as answer:
            assert await answer.text() == "POST ann web:local True hello"
        async with client.post("/greets/ann", data=b"hello hello") as answer:
            assert answer.status == 413
        async with client.put("/greets/ann") as answer:
            assert answer.status == 405

        client.headers.clear()  # a cookie alone, as another site could send it
        async with client.get("/greets/ann") as answer:
            assert answer.status == 403
        client.cookie_jar.clear()
        async with client.post("/greets/ann", data=b"hello") as answer:
            assert answer.status == 403


async def test_a_script_is_loaded_behind_those_of_the_page(tmp_path: Path) -> None:
    file = tmp_path / "greets.js"
    file.write_text("document.title = 'greeted';\n")
    kind = type("Scripted", (Greets,), {"scripts": {"/greets.js": file}})
    async with admin_world(tmp_path, plugins=(kind,)) as world, world.client() as client:
        async with client.get("/scripts.js") as answer:
            assert await answer.text() == 'import("/greets.js");\n'
        async with client.get("/greets.js") as answer:
            assert answer.content_type == "text/javascript"
            assert await answer.text() == file.read_text()


@pytest.mark.parametrize(
    ("scripts", "reason"),
    [
        ({"/greets.css": SCRIPT}, "no path such as"),
        ({"greets.js": SCRIPT}, "no path such as"),
        ({"/greets.js": SCRIPT}, "no file"),
        ({"/greets.js": "greets.js"}, "Path"),
    ],
)
def test_a_script_that_cannot_be_served_is_told(scripts: Mapping[str, Path], reason: str) -> None:
    with pytest.raises(PluginFailed, match=reason):
        scripts_of([type("Wrong", (Greets,), {"scripts": scripts})])
