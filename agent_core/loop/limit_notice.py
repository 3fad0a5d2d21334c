"""The notice at the end of a run that reached a limit."""

from agent_core.loop.limits import LoopLimits
from agent_core.messages import JsonObject
from agent_core.reasons import TerminalReason


def limit_notice(reason: TerminalReason, limits: LoopLimits) -> tuple[str, JsonObject]:
    """Return its text in English, and the limit as data for a translation."""
    match reason:
        case TerminalReason.MAX_TURNS:
            return f"[Reached the limit of {limits.max_turns} model calls]", {"limit": limits.max_turns}
        case TerminalReason.MAX_TOOL_CALLS:
            return f"[Reached the limit of {limits.max_tool_calls} tool calls]", {"limit": limits.max_tool_calls}
        case TerminalReason.MAX_SECONDS:
            minutes = limits.max_seconds / 60
            return f"[Reached the limit of {minutes:g} minutes]", {"limit": minutes}
        case TerminalReason.REPEATED_CALLS:
            return "[Stopped: the same tool call had the same result again and again]", {}
        case _:
            return "[Reached the budget of this run]", {}
