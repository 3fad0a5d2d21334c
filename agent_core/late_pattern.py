"""Regular expressions that are compiled when they are first used."""

import re
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Protocol


class _Find(Protocol):
    def __call__(self, text: str, at: int = ..., end: int = ..., /) -> re.Match[str] | None: ...


class LatePattern:
    """A regular expression that is compiled when it is first used; its methods are those of the compiled one.

    A long one takes milliseconds to compile, and most of those for rare things are used in no chat for days.
    """

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self.pattern = pattern
        self.flags = flags

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern, self.flags)

    @cached_property
    def match(self) -> _Find:
        return self.compiled.match

    @cached_property
    def fullmatch(self) -> _Find:
        return self.compiled.fullmatch

    @cached_property
    def search(self) -> _Find:
        return self.compiled.search

    @cached_property
    def finditer(self) -> Callable[[str], Iterator[re.Match[str]]]:
        return self.compiled.finditer

    @cached_property
    def findall(self) -> Callable[[str], list[str]]:
        """Returns what is matched, or its group, of which there is at most one."""
        return self.compiled.findall

    @cached_property
    def sub(self) -> Callable[[str | Callable[[re.Match[str]], str], str], str]:
        return self.compiled.sub

    @cached_property
    def split(self) -> Callable[[str], list[str]]:
        return self.compiled.split
