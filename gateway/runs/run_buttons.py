"""Buttons about a run, which plugins offer: pressing one gives a command with the run's id."""

from collections.abc import Iterable, Mapping
from typing import Literal

from msgspec import Struct

from channels.base import Button
from gateway.store.rows import Run
from gateway.texts.say import LANGUAGES, Language

LONGEST_RUN = 16
"""Characters of a run's id on a button below a message, whose platforms bound what it holds."""

Place = Literal["chat", "page", "answer"]
"""Below the answer of a run that called tools for long, or the line to which its progress folds; on the page's screen
of a run; or below each whole answer, where a plugin has two that rate it: the first one praises, the second one
blames."""


class RunButton(Struct, frozen=True):
    """A button about a run.

    Raises ValueError if a language has no label, or if the command is too long for a button.
    """

    command: str
    """The name of the command that it gives, with the id of the run behind it, or the first characters of the id."""
    label: Mapping[Language, str]
    place: Place

    def __post_init__(self) -> None:
        if missing := [language for language in LANGUAGES if not self.label.get(language)]:
            raise ValueError(f"the button of /{self.command} has no label in {', '.join(missing)}")
        self.below("x" * LONGEST_RUN, LANGUAGES[0])

    def below(self, run: str, language: Language) -> Button:
        """Return it as a button below a message about the run."""
        style: Literal["quiet", "rating"] = "rating" if self.place == "answer" else "quiet"
        return Button(label=self.label[language], action=f"/{self.command} {run[:LONGEST_RUN]}", style=style)

    def line(self, run: str) -> str:
        """Return the command line that it gives on the page."""
        return f"/{self.command} {run}"


def buttons_in_chat(offered: Iterable[RunButton], run: Run, language: Language) -> tuple[tuple[Button, ...], ...]:
    """Return the rows of buttons below the folded progress of a run."""
    row = tuple(each.below(run.id, language) for each in offered if each.place == "chat")
    return (row,) if row else ()


def ratings_below(offered: Iterable[RunButton], run: Run, language: Language) -> tuple[tuple[Button, ...], ...]:
    """Return the pairs of buttons that rate an answer, one of each plugin that has some."""
    both = [each.below(run.id, language) for each in offered if each.place == "answer"]
    return tuple(zip(both[::2], both[1::2], strict=True))
