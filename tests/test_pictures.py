"""The pictures in docs/architecture are drawn from the code as it is."""

import re

import pytest

from bench.entered import trips
from bench.pictures import COMMAND, PAGE, draw_parts, page

OUT_OF_DATE = f"docs/architecture/README.md is out of date; `{COMMAND}` draws it anew"


def test_the_picture_of_the_parts_is_current() -> None:
    assert draw_parts() in PAGE.read_text("utf-8"), OUT_OF_DATE


async def test_the_pictures_are_what_the_command_draws() -> None:
    if page(await trips()) != PAGE.read_text("utf-8"):
        pytest.fail(OUT_OF_DATE)


def test_the_pictures_are_small_enough_to_read() -> None:
    parts, message = re.findall(r"```mermaid\n(.*?)```", PAGE.read_text("utf-8"), re.S)

    assert len(re.findall(r'\["', parts)) <= 45
    assert len(re.findall(r'\["', message)) <= 30
