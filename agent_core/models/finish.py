"""Reads finish reasons: an answer is whole, cut off, paused or refused, or its server failed."""

import re
from enum import Enum, auto

from agent_core.models.llm import FailureCause, FailureKind, LlmFailure


class Finish(Enum):
    WHOLE = auto()
    CUT = auto()
    """Ended at a limit of its length."""
    PAUSED = auto()
    """The model goes on when it gets its answer back."""
    REFUSED = auto()
    """The provider does not let the model answer this."""
    BROKEN = auto()
    """Something failed at the server."""
    UNKNOWN = auto()


_MEANINGS: dict[Finish, str] = {
    Finish.WHOLE: "stop end_turn stop_sequence tool_calls tool_use tool_call function_call eos eos_token eos_found end "
    "stop_str stopped tool_call tool_use_stop complete completed done finished normal finish_reason_unspecified "
    "stop_string_found",
    Finish.CUT: "length max_tokens max_output_tokens model_length model_context_window_exceeded max_length token_limit "
    "compaction context_length_reached max_predicted_tokens_reached max_time time_limit error_limit",
    Finish.PAUSED: "pause_turn",
    Finish.REFUSED: "content_filter content_filtered content_blocked refusal refused safety recitation language "
    "blocklist prohibited_content spii image_safety sensitive guardrail_intervened error_toxic escalation other "
    "content_policy moderation image_prohibited_content image_recitation image_other no_image model_armor jailbreak "
    "block_reason_unspecified",
    Finish.BROKEN: "error internal_error server_error insufficient_system_resource network_error overloaded "
    "engine_overloaded model_error timeout abort aborted cancelled canceled unavailable malformed_function_call "
    "malformed_response unexpected_tool_call too_many_tool_calls function_call_filter",
}
_WITHIN = re.compile("(?<=[a-z])(?=[A-Z])")
_BY_REASON = {reason: finish for finish, reasons in _MEANINGS.items() for reason in reasons.split()}


def meaning_of(reason: str | None) -> Finish:
    """Return what a reason means; servers that send none end their answers otherwise."""
    if reason is None:
        return Finish.WHOLE
    words = _WITHIN.sub("_", reason.partition(":")[0].strip())  # Google: "content_filter: SAFETY"; Bedrock: "endTurn"
    return _BY_REASON.get(words.lower().replace("-", "_"), Finish.UNKNOWN)


def failure_after(finish: Finish, reason: str | None) -> LlmFailure | None:
    """Return the failure for an answer that ended like this, or None if what arrived can be used."""
    match finish:
        case Finish.REFUSED:
            message = f"the provider ended the answer with the reason {reason!r}: it does not allow this content"
            return LlmFailure(kind=FailureKind.INVALID, cause=FailureCause.CONTENT, message=message)
        case Finish.BROKEN:
            message = f"the server ended the answer with the reason {reason!r} before it was whole"
            return LlmFailure(kind=FailureKind.TRANSIENT, cause=FailureCause.SERVER, message=message)
        case Finish.UNKNOWN:
            message = f"the answer ended with the reason {reason!r}, so it is not known to be whole"
            return LlmFailure(kind=FailureKind.INVALID, cause=FailureCause.UNFINISHED, message=message)
        case _:
            return None
