"""The job of the program in the sandbox, and the files that it shares with Parley."""

from dataclasses import dataclass
from typing import Literal

from gateway.plugins.documents.reader.page import Wish

FILE, JOB, PAGES = "document", "job.json", "pages.jsonl"


@dataclass(frozen=True)
class Job:
    """The part that is asked for."""

    name: str
    """Of the file, for its ending alone."""
    wish: Wish
    first: int = 1
    last: int | None = None
    """Of the pages; None for the last one of all."""
    does: Literal["read", "search", "see"] = "read"
    words: str = ""
    """The words to search for."""
    room: int = 12_000
    """Characters of text."""
    seconds: float = 10.0
