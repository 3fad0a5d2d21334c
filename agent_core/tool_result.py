"""The result of a tool call."""

from typing import Literal

from agent_core.messages import Derived, Json, Text, TextContent, Usage, UserContent
from agent_core.origin import CLEAN, DATA, Origin
from agent_core.reasons import CallFailure, TerminalReason


class ToolResult(Derived):
    """A result: `content` is for the model, `details` only for the program."""

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
    def of(cls, text: str, origin: Origin, *, is_error: bool = False) -> "ToolResult":
        return cls(content=(TextContent(text=text),), origin=origin, is_error=is_error)

    def from_(self, origin: Origin) -> "ToolResult":
        """Return the result as data that comes from there, too."""
        return self.model_copy(update={"origin": self.origin | origin | DATA})

    @classmethod
    def failure(cls, fact: str, advice: str, kind: CallFailure = CallFailure.TOOL) -> "ToolResult":
        """Return an error for the model in one line of at most 300 characters: the fact, and what to do next."""
        fact = " ".join(fact.removeprefix("Error:").split()).rstrip(".")
        return cls.of(f"Error: {fact[:200]}. Next: {advice[:80]}", CLEAN, is_error=True).failed_as(kind)

    @classmethod
    def not_run(cls, text: str, kind: CallFailure) -> "ToolResult":
        """Return the result of a call that was not run, or not to its end."""
        return cls.of(text, CLEAN, is_error=True).failed_as(kind)

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
