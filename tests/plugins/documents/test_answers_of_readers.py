"""Readers of documents answer from the sandbox: nothing in their answers is trusted, and no chat waits for another."""

import asyncio
import json
from collections import Counter
from pathlib import Path

import pytest

from agent_core.sandbox.command import Command, Finished, OnOutput
from channels.base import ChatKey
from gateway.plugins.documents.reader.job import FILE, PAGES, Job
from gateway.plugins.documents.reader.page import Wish
from gateway.plugins.documents.sandboxed import AT_ONCE, DocumentReader, NotRead
from tests.process import until

JOB = Job("lease.pdf", Wish())
ANN = ChatKey(platform="test", account="here", chat="ann")
READ = (
    {"kind": "PDF", "unit": "page", "facts": []},
    {"number": 1, "label": "p. 1", "text": "Hello.", "cut": 0},
    {"end": {"done": 1, "total": 1, "why": ""}},
)


class Answering:
    """A sandbox in which a reader gives this answer, as soon as it may."""

    name = "test"

    def __init__(self, *lines: object) -> None:
        self._lines = lines
        self.may = asyncio.Event()
        self.under_way = Counter[bytes]()
        """The readers that are at work, by the file that they read."""
        self.most = Counter[bytes]()

    async def run(self, command: Command, output: str, on_output: OnOutput) -> Finished:
        file = (command.workspace / FILE).read_bytes()
        self.under_way[file] += 1
        self.most |= self.under_way
        await self.may.wait()
        self.under_way[file] -= 1
        (command.workspace / PAGES).write_text("".join(f"{json.dumps(line)}\n" for line in self._lines))
        return Finished(0, command.workspace / output, 0)


@pytest.mark.parametrize("error", [[1], {"a": 1}, 7, True, 1.5, "nothing known", ["broken"]])
async def test_an_error_that_is_no_known_reason_is_a_damaged_file(tmp_path: Path, error: object) -> None:
    answering = Answering({"error": error})
    answering.may.set()

    with pytest.raises(NotRead) as told:
        await DocumentReader(answering, tmp_path).read(b"x", JOB, ANN)

    assert told.value.reason == "broken"


async def test_documents_of_one_chat_do_not_make_others_wait(tmp_path: Path) -> None:
    answering = Answering(*READ)
    reader = DocumentReader(answering, tmp_path)
    async with asyncio.TaskGroup() as group:
        for thread in (None, *map(str, range(AT_ONCE))):
            group.create_task(reader.read(b"of ann", JOB, ANN.model_copy(update={"thread": thread})))
        group.create_task(reader.read(b"of bob", JOB, ANN.model_copy(update={"chat": "bob"})))

        await until(lambda: answering.under_way[b"of bob"] == 1)
        answering.may.set()

    assert answering.most == {b"of ann": 1, b"of bob": 1}


async def test_no_more_than_some_are_read_at_once(tmp_path: Path) -> None:
    answering = Answering(*READ)
    reader = DocumentReader(answering, tmp_path)
    async with asyncio.TaskGroup() as group:
        for number in range(AT_ONCE + 2):
            group.create_task(reader.read(b"x", JOB, ANN.model_copy(update={"chat": str(number)})))

        await until(lambda: answering.under_way[b"x"] == AT_ONCE)
        answering.may.set()

    assert answering.most == {b"x": AT_ONCE}
