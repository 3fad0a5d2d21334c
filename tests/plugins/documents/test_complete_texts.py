"""The text of every document is read completely and in order."""

import re
from pathlib import Path

import pytest

from agent_core.clock import SystemClock
from agent_core.sandbox.command import Launcher
from agent_core.sandbox.probe import NAMES
from agent_core.sandbox.process import ProcessSandbox
from gateway.plugins.documents.reader.job import Job
from gateway.plugins.documents.reader.page import Wish
from gateway.plugins.documents.sandboxed import DocumentReader
from tests.agent_core.sandbox.running import launcher_called
from tests.plugins.documents.references import Reference, references

FEW = 7
"""Words of the documents that are read in each sandbox."""


async def missing(reader: DocumentReader, reference: Reference) -> list[str]:
    """Return the words of a document that were not read, or not in their place."""
    found = await reader.read(reference.content, Job(reference.name, Wish(), room=1_000_000), None)
    read = re.findall(r"(?:word|词)\d+x\d+", "\n".join(each.text for each in found.pages))
    return [] if read == list(reference.words) else [*set(reference.words) ^ set(read)] or ["the order"]


@pytest.mark.parametrize("name", NAMES)
async def test_each_kind_is_read_in_each_sandbox(tmp_path: Path, name: str) -> None:
    launcher = await launcher_called(name, tmp_path / "scratch")
    reader = DocumentReader(ProcessSandbox(launcher, SystemClock()), tmp_path / "documents")

    of_each = [each for each in references() if len(each.words) == FEW]

    assert {each.name: words for each in of_each if (words := await missing(reader, each))} == {}


async def test_nothing_is_missing_in_sixty_documents(launcher: Launcher, tmp_path: Path) -> None:
    reader = DocumentReader(ProcessSandbox(launcher, SystemClock()), tmp_path / "documents")

    lacking = {each.name: words for each in references() if (words := await missing(reader, each))}

    assert lacking == {}
