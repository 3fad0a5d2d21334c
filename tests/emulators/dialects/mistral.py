"""Mistral: ids of nine letters and digits, and no person's message directly after a tool's result.

The sentences are those of anomalyco/opencode issue 1680 and datapizza-labs/datapizza-ai issue 98.
"""

from tests.emulators.dialects.dialect import Dialect
from tests.emulators.dialects.endings import LOCAL_ENDINGS
from tests.emulators.dialects.lessons import Lesson
from tests.emulators.dialects.openai_chat import OpenAiChat
from tests.emulators.dialects.rules import forbids, no_user_after_tool, short_ids
from tests.emulators.model_script import Json

EXTRA = "messages.{}.assistant.{}: Extra inputs are not permitted"


def mistral_error(sentence: str) -> Json:
    is_order = sentence.startswith("Unexpected role")
    kind = "invalid_request_message_order" if is_order else "invalid_request_error"
    return {"object": "error", "message": sentence, "type": kind, "param": None, "code": "3230" if is_order else None}


MISTRAL = Dialect(
    "Mistral",
    "mistral-medium-latest",
    "litellm",
    OpenAiChat(
        parameters=frozenset({"safe_prompt"}),
        rules=(forbids(("reasoning_content", "reasoning", "reasoning_details"), EXTRA), short_ids, no_user_after_tool),
        error=mistral_error,
        call_id=lambda number: f"{number:09d}",
    ),
    provider="mistral",
    lessons=(Lesson("max_completion_tokens", "max_completion_tokens: Extra inputs are not permitted", known=True),),
    endings={**LOCAL_ENDINGS, "model_length": "cut", "error": "broken"},
)
