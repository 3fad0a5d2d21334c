"""The result of a tool call."""

from collections.abc import Iterable
from typing import Literal

from agent_core.messages import Json, Tainted, Text, TextContent, Usage, UserContent
from agent_core.reasons import CallFailure, TerminalReason
from agent_core.sources import union


class ToolResult(Tainted):
    """A result: `content` is for the model, `details` only for the program. Sources are added to those of the tool."""

    content: tuple[UserContent, ...] = ()
    details: Json = None
    summary: Text = ""
    """A few words for users on the outcome, shown beside the call in the progress: `+3 -1`."""
    is_error: bool = False
    terminate: bool = False
    """Ends the run if every result of the batch sets it."""
    ends_as: Literal[TerminalReason.TOOL_TERMINATED, TerminalReason.BACKGROUNDED, TerminalReason.HANDED_OVER] = (
        TerminalReason.TOOL_TERMINATED
    )
    """The reason with which the run then ends, such as that another run continues the work."""
    usage: Usage = Usage()
    """Cost of model calls that the tool itself made."""

    @classmethod
    def of(cls, text: str, *, is_error: bool = False) -> "ToolResult":
        return cls(content=(TextContent(text=text),), is_error=is_error)

    def from_(self, sources: Iterable[str]) -> "ToolResult":
        """Return the result marked as untrusted, with these sources added."""
        return self.model_copy(update={"untrusted": True, "sources": union(self.sources, sources)})

    @classmethod
    def failure(cls, fact: str, advice: str, kind: CallFailure = CallFailure.TOOL) -> "ToolResult":
        """Return an error for the model in one line of at most 300 characters: the fact, and what to do next."""
        fact = " ".join(fact.removeprefix("Error:").split()).rstrip(".")
        return cls.of(f"Error: {fact[:200]}. Next: {advice[:80]}", is_error=True).failed_as(kind)

    @classmethod
    def not_run(cls, text: str, kind: CallFailure) -> "ToolResult":
        """Return the result of a call that was not run, or not to its end."""
        return cls.of(text, is_error=True).failed_as(kind)

    def failed_as(self, kind: CallFailure) -> "ToolResult":
        """Add the failure kind to the details, unless they have one already."""
        match self.details:
            case None:
                details: Json = {"failure": kind.value}
            case dict():
                details = {"failure": kind.value, **self.details}
            case other:
                details = {"failure": kind.value, "details": other}
        return self.model_copy(update={"details": details})
