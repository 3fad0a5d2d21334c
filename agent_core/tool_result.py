"""What a tool gives back."""

from typing import Literal

from agent_core.messages import Frozen, Json, Text, TextContent, Usage, UserContent
from agent_core.reasons import CallFailure, TerminalReason


class ToolResult(Frozen):
    """`content` is for the model, `details` for the program only (S4-10)."""

    content: tuple[UserContent, ...] = ()
    details: Json = None
    summary: Text = ""
    """A few words for people on what came of it, beside the call in the progress: `+3 -1`."""
    is_error: bool = False
    terminate: bool = False
    """Ends the run if every result of the batch says so (U-05)."""
    ends_as: Literal[TerminalReason.TOOL_TERMINATED, TerminalReason.BACKGROUNDED, TerminalReason.HANDED_OVER] = (
        TerminalReason.TOOL_TERMINATED
    )
    """How it then ends: for whoever else goes on with the work (S3-11)."""
    untrusted: bool = False
    """Whether strangers may have written this one, where that is not so of all that the tool brings back."""
    usage: Usage = Usage()
    """What models have cost that the tool itself has asked."""

    @classmethod
    def of(cls, text: str, *, is_error: bool = False) -> "ToolResult":
        return cls(content=(TextContent(text=text),), is_error=is_error)

    @classmethod
    def failure(cls, fact: str, advice: str, kind: CallFailure = CallFailure.TOOL) -> "ToolResult":
        """One line for the model: what is so, and what to do next; at most 300 characters (S2-28)."""
        fact = " ".join(fact.removeprefix("Error:").split()).rstrip(".")
        return cls.of(f"Error: {fact[:200]}. Next: {advice[:80]}", is_error=True).failed_as(kind)

    @classmethod
    def not_run(cls, text: str, kind: CallFailure) -> "ToolResult":
        """Of a call that was not made, or not to its end."""
        return cls.of(text, is_error=True).failed_as(kind)

    def failed_as(self, kind: CallFailure) -> "ToolResult":
        """Says so in the details, unless they say another reason already (S3-33)."""
        match self.details:
            case None:
                details: Json = {"failure": kind.value}
            case dict():
                details = {"failure": kind.value, **self.details}
            case other:
                details = {"failure": kind.value, "details": other}
        return self.model_copy(update={"details": details})
