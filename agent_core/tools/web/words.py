"""The result of reading a page."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Page:
    """A page as text."""

    title: str
    """Empty if it has none."""
    text: str
    """Markdown of the visible content; empty if there is none."""
    whole: bool = True
    """False if the page was too long or complex to be read to its end."""
