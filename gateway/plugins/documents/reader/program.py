"""The program that runs in the sandbox: reads what `job.json` asks for, and writes lines of JSON to `pages.jsonl`.

The last line says how it ended. What is missing if it is killed is the end alone: each page is written at once.
"""

import json
import mimetypes
import signal
from base64 import b64encode
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TextIO

from gateway.plugins.documents.reader.job import FILE, JOB, PAGES, Job
from gateway.plugins.documents.reader.opening import opened
from gateway.plugins.documents.reader.page import Document, Drawn, Page, Unreadable, Wish
from gateway.plugins.documents.reader.searching import hits_in, words_of

FACT_CHARS = 2_000
MOST_HITS = 20


class Late(BaseException):
    """The time is over. No code that expects failures catches it."""


def main() -> None:
    """Do the job in the current folder."""
    asked = json.loads(Path(JOB).read_text("utf-8"))
    job = Job(**{**asked, "wish": Wish(**asked["wish"])})
    mimetypes.knownfiles.clear()  # openpyxl would read those of the machine, which are out of reach
    signal.signal(signal.SIGALRM, _be_late)
    signal.setitimer(signal.ITIMER_REAL, job.seconds)
    with Path(PAGES).open("w", encoding="utf-8") as file:
        try:
            document = opened(Path(FILE).read_bytes(), job.name, job.wish)
            _write(file, {"kind": document.kind, "unit": document.unit, "facts": _facts(document)})
            _write(file, {"end": _DOES[job.does](file, document, job)})
        except Unreadable as error:
            _write(file, {"error": str(error)})
        except RecursionError:
            _write(file, {"error": "nested"})
        except MemoryError:
            _write(file, {"error": "too_large"})
        except Late:
            _write(file, {"error": "too_slow"})


def _be_late(*_: object) -> None:
    raise Late


def _write(file: TextIO, line: object) -> None:
    """Write a line in one call, which is not cut off when the time is over."""
    file.write(f"{json.dumps(line)}\n")
    file.flush()


def _facts(document: Document) -> list[str]:
    return [each if len(each) <= FACT_CHARS else f"{each[:FACT_CHARS]}…" for each in document.facts]


def _read(file: TextIO, document: Document, job: Job) -> dict[str, object]:
    """Write the wanted pages as far as there is room. Go on to count the others, if that has to be."""
    room, done, total, why = job.room, job.first - 1, document.count, ""
    try:
        for page in document.pages(job.first):
            total = page.number if document.count is None else total
            if page.number < job.first:
                continue
            why = why or _why_not(page, job, room, is_first=done < job.first)
            if why and document.count is not None:
                break
            if not why:
                text = page.text[:room]
                cut = len(page.text) - len(text)
                _write(file, {"number": page.number, "label": page.label, "text": text, "cut": cut})
                room, done = room - len(text) - len(page.label), page.number
    except Late:
        return _late(done, document, job, why)
    return {"done": done, "total": total, "why": why}


def _why_not(page: Page, job: Job, room: int, *, is_first: bool) -> str:
    """Return why a page is not shown; empty if it is. The first one is cut rather than left out."""
    if job.last is not None and page.number > job.last:
        return "range"
    return "room" if room <= 0 or (len(page.text) > room and not is_first) else ""


def _late(done: int, document: Document, job: Job, why: str) -> dict[str, object]:
    """Return how it ended. Raises Unreadable if nothing was read."""
    if done < job.first:
        raise Unreadable("too_slow")
    return {"done": done, "total": document.count, "why": why or "time"}


def _search(file: TextIO, document: Document, job: Job) -> dict[str, object]:
    """Write the places with the words."""
    words, left, done = words_of(job.words), MOST_HITS, job.first - 1
    try:
        for page in document.pages(job.first):
            for text in hits_in(page.text, words):
                if not left:
                    return {"done": done, "total": document.count, "why": "room"}
                left -= 1
                _write(file, {"number": page.number, "label": page.label, "text": text, "cut": 0})
            done = page.number
    except Late:
        return _late(done, document, job, "")
    return {"done": done, "total": document.count or done, "why": ""}


def _see(file: TextIO, document: Document, job: Job) -> dict[str, object]:
    """Write the first wanted page as a picture."""
    if not isinstance(document, Drawn):
        raise Unreadable("unseen")
    picture = b64encode(document.picture(job.first)).decode()
    _write(file, {"number": job.first, "label": f"p. {job.first}", "text": picture, "cut": 0})
    return {"done": job.first, "total": document.count, "why": ""}


_DOES: Mapping[str, Callable[[TextIO, Document, Job], dict[str, object]]] = {
    "read": _read,
    "search": _search,
    "see": _see,
}
