"""What a page comes to."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Page:
    """A page in words."""

    title: str
    """Empty where it has none."""
    text: str
    """Markdown, without anything that a person could not see; empty where there is nothing to read."""
    whole: bool = True
    """False: it was too long or too tangled to be read to its end."""
