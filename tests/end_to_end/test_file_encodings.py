"""Tables of office programs and old systems are read alike wherever people hand them over."""

from pathlib import Path

import pytest

from tests.emulators.model_script import ToolUse, calls, says
from tests.end_to_end.platforms.catalogue import only, where
from tests.end_to_end.platforms.platform import Chat, Person
from tests.end_to_end.stage import Stage, says_last

pytestmark = pytest.mark.asyncio(loop_scope="module")

ENCODED = [
    pytest.param("cp932", "Shift-JIS", "日付,商品,数量\n2026-01-05,りんご,12\n", id="shift-jis"),
    pytest.param("gb18030", "GB18030", "日期,产品,数量\n2026-01-05,苹果,12\n", id="gb18030"),
    pytest.param("cp1251", "Windows-1251", "Дата,Товар,Количество\n2026-01-05,Яблоки,12\n", id="cp1251"),
    pytest.param("utf-16-le", "UTF-16", "日期,产品\n1,苹果\n", id="utf-16"),
]


async def read(stage: Stage, chat: Chat) -> str:
    """Wait for the answer. Return what the model has read in the file."""
    answer = await stage.asked(2)
    await chat.until(says_last("Apples it is."))
    return answer.last_text


def lets_read(stage: Stage, name: str) -> tuple[Person, Chat]:
    stage.script.then(calls(ToolUse("read_file", {"path": name})), says("Apples it is."))
    return stage.private("Ann")


@where(lambda facts: facts.files)
@pytest.mark.parametrize(("encoding", "label", "words"), ENCODED)
async def test_a_file_that_is_sent_is_read_in_its_encoding(stage: Stage, encoding: str, label: str, words: str) -> None:
    name = f"{encoding}.csv"  # the chat may have the files of the tests before
    ann, chat = lets_read(stage, name)

    await chat.says(ann, "what is in it?", document=(name, words.encode(encoding), "text/csv"))

    told = await read(stage, chat)
    assert words in told
    assert f"read as {label}, which is a guess" in told


@only("terminal")
@pytest.mark.parametrize(("encoding", "label", "words"), ENCODED)
async def test_a_file_that_a_line_names_is_read_in_its_encoding(
    stage: Stage, tmp_path: Path, encoding: str, label: str, words: str
) -> None:
    name = f"{encoding}.csv"  # the chat may have the files of the tests before
    ann, chat = lets_read(stage, name)
    (tmp_path / name).write_bytes(words.encode(encoding))

    await chat.says(ann, f"what is in @{tmp_path / name} ?")

    told = await read(stage, chat)
    assert words in told
    assert f"read as {label}, which is a guess" in told
