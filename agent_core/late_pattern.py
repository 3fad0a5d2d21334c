"""Regular expressions that are compiled when they are first used."""

import re
import sys
from collections.abc import Callable, Iterator
from functools import cached_property


class LatePattern:
    """A regular expression that is compiled when it is first used.

    A long one takes milliseconds to compile, and most of those for rare things are used in no chat for days.
    """

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self.pattern = pattern
        self.flags = flags

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern, self.flags)

    def match(self, text: str, at: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        return self.compiled.match(text, at, end)

    def fullmatch(self, text: str, at: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        return self.compiled.fullmatch(text, at, end)

    def search(self, text: str, at: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        return self.compiled.search(text, at, end)

    def finditer(self, text: str, at: int = 0, end: int = sys.maxsize) -> Iterator[re.Match[str]]:
        return self.compiled.finditer(text, at, end)

    def findall(self, text: str) -> list[str]:
        """Return what is matched, or its group, of which there is at most one."""
        return self.compiled.findall(text)

    def sub(self, replacement: str | Callable[[re.Match[str]], str], text: str) -> str:
        return self.compiled.sub(replacement, text)

    def split(self, text: str) -> list[str]:
        return self.compiled.split(text)
