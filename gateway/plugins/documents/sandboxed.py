"""Runs the reader of documents in the sandbox: one process for each request, with a copy of the file and no network."""

import asyncio
import importlib.util
import json
import shutil
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import cache
from pathlib import Path
from weakref import WeakValueDictionary

import structlog
from msgspec import Struct
from pydantic import BaseModel, ConfigDict, ValidationError

from agent_core import encodings
from agent_core.file_handles import raise_lack
from agent_core.json_text import read_json
from agent_core.sandbox.command import Command, Finished, Sandbox
from agent_core.sandbox.limits import CommandLimits
from agent_core.sandbox.machine_view import python_folder
from agent_core.tools.files.editing import write_whole
from agent_core.tools.files.reading import read_whole
from agent_core.tools.tool import ToolFailed
from agent_core.tools.web.invisible_characters import visible
from agent_core.workspace.safe_open import best_opener
from channels.base import ChatKey
from gateway.plugins.documents import reader
from gateway.plugins.documents.reader.job import FILE, JOB, PAGES, Job
from gateway.plugins.documents.reader.page import REASONS

MOST_BYTES = 50_000_000
"""Largest document that is read."""
LIMITS = CommandLimits(
    seconds=25.0,
    cpu_seconds=20,
    memory_bytes=768 * 1024**2,
    file_bytes=MOST_BYTES,
    open_files=32,
    output_bytes=100_000,
    all_memory_bytes=300_000_000,
    grow_bytes=2 * MOST_BYTES,
    grow_files=20,
)
AT_ONCE = 3
"""Documents that are read at the same time, one of each chat; others wait."""
PACKAGES = ("pypdfium2", "pypdfium2_cfg", "pypdfium2_raw", "openpyxl", "et_xmlfile")
"""Packages of others that the reader may import, beside the standard library."""
_PREFIX = ".document-"
_BESIDE = 40_000
"""Characters of an answer beside the text: what is told of all of the document, and addresses."""
_ESCAPED = 6
"""Bytes of a character in JSON."""
_WORDS = 500
"""Characters of what a reader that failed has said last, for the log."""
_BEGIN = """
import importlib.util, sys, types
folders = dict(pair.split("=", 1) for pair in sys.argv[1:])

class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name in folders:
            places = [folders[name]]
            return importlib.util.spec_from_file_location(
                name, folders[name] + "/__init__.py", submodule_search_locations=places
            )

for name in ("gateway", "gateway.plugins", "gateway.plugins.documents"):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = []
sys.meta_path.insert(0, Finder)
import gateway.plugins.documents.reader.program as program
program.main()
"""
"""Lets the interpreter find these packages and no others: the folder in which they are installed stays out of reach."""


log = structlog.get_logger(__name__)


class NotRead(Exception):
    """A document was not read. `reason` is one of those of `texts`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Shown(BaseModel):
    """A page, or the surroundings of found words."""

    model_config = ConfigDict(frozen=True, strict=True, defer_build=True)
    number: int
    label: str
    text: str
    cut: int
    """Characters of it that are left out."""


class _End(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, defer_build=True)
    done: int
    total: int | None
    why: str


class _Head(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, defer_build=True)
    kind: str
    unit: str
    facts: tuple[str, ...]


class Found(Struct, frozen=True):
    """The pages of a document that were read, or found."""

    kind: str
    unit: str
    facts: Sequence[str]
    pages: Sequence[Shown]
    done: int
    """The last page that was read."""
    total: int | None
    """Number of its pages, if that is known."""
    why: str
    """The reason why it ended before the last page: `range`, `room`, `time`, `broken`; empty if it did not."""


class DocumentReader:
    """Reads documents in the sandbox."""

    def __init__(self, sandbox: Sandbox | None, scratch: Path) -> None:
        self._sandbox = sandbox
        self._scratch = scratch
        self._turns = asyncio.Semaphore(AT_ONCE)
        self._of_chats: WeakValueDictionary[ChatKey | None, asyncio.Lock] = WeakValueDictionary()
        """The turns of each chat, which all of its threads share: whoever sends files that hang waits for oneself."""
        self._clear()

    @property
    def can_read(self) -> bool:
        return self._sandbox is not None

    async def read(self, content: bytes, job: Job, chat: ChatKey | None) -> Found:
        """Read or search a document of a chat. Raises NotRead."""
        if self._sandbox is None:
            raise NotRead("no_sandbox")
        if len(content) > MOST_BYTES:
            raise NotRead("too_large")
        whose = None if chat is None else chat.without_thread
        async with self._of_chats.setdefault(whose, asyncio.Lock()), self._turns:
            folder = await asyncio.to_thread(self._prepare, content, job)
            try:
                finished = await self._sandbox.run(_command(folder), "output", lambda _: None)
                return await asyncio.to_thread(_found, folder, finished, _ESCAPED * (job.room + _BESIDE))
            except OSError as error:
                raise_lack(error)
                raise NotRead("no_sandbox") from error
            finally:
                await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    def _prepare(self, content: bytes, job: Job) -> Path:
        """Return a folder of its own with the file and the job. Blocks."""
        self._scratch.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=self._scratch.resolve()))
        for name, data in ((FILE, content), (JOB, json.dumps(asdict(job)).encode())):
            write_whole(folder, name, data, best_opener())
        return folder

    def _clear(self) -> None:
        """Delete the copies of documents that a killed process has left. Blocks."""
        for each in self._scratch.glob(f"{_PREFIX}*"):
            shutil.rmtree(each, ignore_errors=True)


def _command(folder: Path) -> Command:
    packages = _packages()
    python = python_folder() / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"
    begin = (str(python.resolve()), "-I", "-S", "-B", "-X", "utf8", "-c", _BEGIN)
    places = tuple(f"{name}={place}" for name, place in packages.items())
    return Command((*begin, *places), folder, readable=tuple(packages.values()), limits=LIMITS)


@cache
def _packages() -> dict[str, Path]:
    """Return the folder of each package that the reader imports, without importing any."""
    ours = {"gateway.plugins.documents.reader": reader.__file__, "agent_core": encodings.__file__}
    found = {name: Path(module).resolve().parent for name, module in ours.items()}
    for name in PACKAGES:
        spec = importlib.util.find_spec(name)
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            found[name] = Path(folder).resolve()
    return found


def _found(folder: Path, finished: Finished, most: int) -> Found:
    """Return what the reader has written, at most so many bytes: nothing of it is trusted. Blocks. Raises NotRead."""
    try:
        lines = read_whole(folder, PAGES, best_opener(), most).split(b"\n")
        return _told([read_json(line) for line in lines[:-1]], finished)  # the last one is empty, or cut by a kill
    except (ToolFailed, ValidationError, ValueError) as error:
        log.warning("document not read", code=finished.code, excess=finished.excess, said=_last_words(finished.output))
        raise NotRead(_why(finished)) from error


def _last_words(output: Path) -> str:
    """Return the end of what the reader has said. Blocks."""
    with suppress(ToolFailed):
        return visible(read_whole(output.parent, output.name, best_opener()).decode("utf-8", "replace"))[-_WORDS:]
    return ""


def _told(lines: Sequence[object], finished: Finished) -> Found:
    """Raises ValueError, ValidationError and NotRead."""
    head: _Head | None = None
    pages: list[Shown] = []
    end: _End | None = None
    for line in lines:
        if not isinstance(line, dict):
            raise ValueError("no line of the reader")  # noqa: TRY004 - all that is wrong with lines is a ValueError
        if (error := line.get("error")) and not pages:
            raise NotRead(error if isinstance(error, str) and error in REASONS else "broken")
        if error:
            end = _End(done=pages[-1].number, total=None, why="broken")
        elif "kind" in line:
            head = _Head.model_validate(_tuples(line))
        elif "end" in line:
            end = _End.model_validate(line["end"])
        else:
            pages.append(_clean(Shown.model_validate(line)))
    if head is None or (end is None and not pages):
        raise NotRead(_why(finished))
    end = end or _End(done=pages[-1].number, total=None, why="time")
    facts = tuple(visible(each) for each in head.facts)
    return Found(visible(head.kind), visible(head.unit), facts, pages, end.done, end.total, end.why)


def _tuples(line: dict[str, object]) -> dict[str, object]:
    facts = line.get("facts")
    return {**line, "facts": tuple(facts) if isinstance(facts, list) else facts}


def _clean(page: Shown) -> Shown:
    """Return the page without characters that nobody sees."""
    label = " ".join(visible(page.label).split())
    return page.model_copy(update={"label": label, "text": visible(page.text)})


def _why(finished: Finished) -> str:
    """Return why the reader has ended without an answer."""
    if finished.timed_out:
        return "too_slow"
    return "too_large" if finished.excess or finished.flooded else "broken"
