"""The pictures in docs/architecture are drawn from the code as it is."""

import asyncio
import re
from collections.abc import Sequence

import pytest

from bench.entered import Trip, functions_to_model, trips
from bench.pictures import COMMAND, PAGE, draw_parts, page

OUT_OF_DATE = f"docs/architecture/README.md is out of date; `{COMMAND}` draws it anew"


def test_the_picture_of_the_parts_is_current() -> None:
    assert draw_parts() in PAGE.read_text("utf-8"), OUT_OF_DATE


@pytest.fixture(scope="module")
def made() -> Sequence[Trip]:
    return asyncio.run(trips())


def test_the_pictures_are_what_the_command_draws(made: Sequence[Trip]) -> None:
    if page(made) != PAGE.read_text("utf-8"):
        pytest.fail(OUT_OF_DATE)


def test_a_message_passes_at_most_eight_functions_from_its_mailbox_to_the_model(made: Sequence[Trip]) -> None:
    assert max(map(functions_to_model, made)) <= 8


def test_the_pictures_are_small_enough_to_read() -> None:
    parts, message = re.findall(r"```mermaid\n(.*?)```", PAGE.read_text("utf-8"), re.S)

    assert len(re.findall(r'\["', parts)) <= 45
    assert len(re.findall(r'\["', message)) <= 30
