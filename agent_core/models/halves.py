"""Characters of which each half comes in a piece of its own: servers cut texts between the halves of an emoji."""

from agent_core.messages import clean


class Halves:
    """Joins the pieces of one text."""

    def __init__(self) -> None:
        self._first = ""

    def join(self, piece: str) -> str:
        """Return the text of a piece, without a half at its end but with the one that was left before."""
        if not self._first and piece.isascii():
            return piece
        text, self._first = self._first + piece, ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._first = text[:-1], text[-1]
        return str(clean(text))

    def rest(self) -> str:
        """Return what stands for a half whose other half never came."""
        text, self._first = self._first, ""
        return str(clean(text))
