"""The pictures of the page in the documentation show it as it is."""

import os
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from PIL import Image, ImageChops
from playwright.async_api import Browser

from docs.pictures.screens import DESKTOP, FOLDER, PHONE, Shot, screens, shots, take, team, upper
from tests.end_to_end.browser import NEEDS_BROWSER
from tests.gateway.admin.desk import AdminWorld

QUARTER = 4
DIFFERENT = 40
"""Levels of grey, of 256."""
LIVE = {"log"}
"""Screens that show other things each time, so that only the presence of their pictures is tested."""
MOST_DIFFERENT = 0.04
"""Share of the pixels: ids and figures differ each time, a changed layout differs more."""

pytestmark = [
    *NEEDS_BROWSER,
    pytest.mark.skipif(os.environ.get("PARLEY_REQUIRE_BROWSER") != "1", reason="other machines have other fonts"),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[AdminWorld]:
    async with team(tmp_path_factory.mktemp("team")) as started:
        yield started


async def test_every_screen_has_its_pictures(world: AdminWorld) -> None:
    assert {shot.file.name for shot in shots(screens(world))} == {path.name for path in FOLDER.glob("*.png")}


@pytest.mark.in_turn("width", [DESKTOP, PHONE])
async def test_the_pictures_show_the_screens_as_they_are(world: AdminWorld, browser: Browser, width: int) -> None:
    """Otherwise `docs/pictures/screens.py` takes them anew."""
    wanted = [shot for shot in shots(screens(world)) if shot.width == width and shot.screen not in LIVE]
    taken = await take(world, browser, wanted)
    differences = {shot.file.name: difference(shot, now) for shot, now in taken.items()}
    assert {name: share for name, share in differences.items() if share > MOST_DIFFERENT} == {}


def difference(shot: Shot, now: bytes) -> float:
    """Return the share of pixels, at a quarter of the size, that differ much; 1.0 for pictures of other sizes."""
    old, new = Image.open(shot.file).convert("L"), upper(now).convert("L")
    if old.width != new.width or abs(old.height - new.height) > MOST_DIFFERENT * old.height:
        return 1.0
    size = old.width // QUARTER, min(old.height, new.height) // QUARTER
    box = 0, 0, old.width, min(old.height, new.height)
    delta = ImageChops.difference(old.crop(box).resize(size), new.crop(box).resize(size)).tobytes()
    return sum(each > DIFFERENT for each in delta) / len(delta)
