"""Pictures that no model can see are known by their bytes, and other files are not taken for them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.tools.files.unseen import unseen_format
from agent_core.workspace.safe_open import best_opener
from tests.agent_core.files.test_read_picture import KINDS
from tests.agent_core.files.unseen_pictures import BINARY, SVG, UNSEEN
from tests.agent_core.files.workspace import Workspace
from tests.cpu import cpu_seconds_at_most

OTHERS = {
    "video": b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom",
    "sound": b"\0\0\0\x18ftypM4A \0\0\0\0M4A isom",
    "page with a drawing": b"<!DOCTYPE html><html><svg></svg></html>",
    "words on SVG": b"An <svg> element draws.",
    "words that begin like a bitmap": b"BM is short for bench marks, which we measure each week.",
    "words in cp1251": "я\nты".encode("cp1251"),
    "nothing": b"",
}


@pytest.mark.parametrize(("name", "content"), UNSEEN.items(), ids=UNSEEN)
def test_a_picture_is_known_by_its_bytes(name: str, content: bytes) -> None:
    assert unseen_format(content) == name


@pytest.mark.parametrize("begins", [b"\xef\xbb\xbf", b"\n  ", b"<!DOCTYPE svg PUBLIC 'x' 'y' [<!ENTITY a 'b'>]>\n"])
def test_a_drawing_is_known_whatever_stands_before_it(begins: bytes) -> None:
    assert unseen_format(begins + SVG) == "SVG"


def test_a_picture_of_jpeg_xl_without_a_container_is_known() -> None:
    assert unseen_format(b"\xff\n\xfa\x1f\0\x90") == "JPEG XL"


@pytest.mark.parametrize("content", OTHERS.values(), ids=OTHERS)
def test_another_file_is_no_picture(content: bytes) -> None:
    assert unseen_format(content) is None


@pytest.mark.parametrize(("content", "kind"), KINDS)
def test_a_picture_that_models_see_is_none_of_these(content: bytes, kind: str) -> None:
    assert unseen_format(content) is None, kind


@given(st.text(st.sampled_from("BM8PSI*<>!-?svgxml я\n")))
def test_words_are_no_picture_but_a_drawing(words: str) -> None:
    assert unseen_format(words.encode()) in (None, "SVG")


def test_a_file_of_endless_comments_is_looked_at_in_no_time() -> None:
    with cpu_seconds_at_most(1):
        assert unseen_format(b"<!---->" * 500_000) is None


@pytest.mark.parametrize(("name", "content"), BINARY.items(), ids=BINARY)
async def test_reading_one_says_what_to_do(tmp_path: Path, name: str, content: bytes) -> None:
    seeing = Workspace(tmp_path, best_opener(), vision=True)
    seeing.put("photo", content)

    told = await seeing.refusal("read_file", path="photo")

    assert f"photo is a {name} picture (" in told
    assert "which no model can see" in told


async def test_a_drawing_is_read_as_the_text_that_it_is(tmp_path: Path) -> None:
    seeing = Workspace(tmp_path, best_opener(), vision=True)
    seeing.put("logo.svg", SVG)

    assert "<circle" in await seeing.run("read_file", path="logo.svg")
