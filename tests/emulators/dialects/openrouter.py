"""OpenRouter: reasoning comes as `reasoning_details`, whose blocks go back in order and unchanged.

See openrouter.ai/docs, "Reasoning tokens: preserving reasoning blocks". Its errors have a number as code, and the words
of the provider behind it in `metadata`, as in HKUDS/Vibe-Trading issue 246. Claude takes no beginning of its answer.
"""

import json

from tests.emulators.dialects.dialect import Dialect
from tests.emulators.dialects.endings import OPENAI_ENDINGS
from tests.emulators.dialects.openai_chat import OpenAiChat
from tests.emulators.dialects.rules import ends_with_a_question, wants_back
from tests.emulators.model_script import Json

MISSING = "messages.{}: reasoning_details of the tool call are missing or were modified"


def openrouter_error(sentence: str) -> Json:
    raw: Json = {"type": "error", "error": {"type": "invalid_request_error", "message": sentence}}
    told: Json = {"raw": json.dumps(raw), "provider_name": "Anthropic", "is_byok": False}
    return {"error": {"message": "Provider returned error", "code": 400, "metadata": told}, "user_id": "user_emulated"}


OPENROUTER = Dialect(
    "OpenRouter",
    "anthropic/claude-sonnet-5",
    "own",
    OpenAiChat(
        path="/api/v1",
        reasoning_in="reasoning_details",
        parameters=frozenset({"reasoning", "usage", "include_reasoning"}),
        rules=(wants_back("reasoning_details", MISSING, of_all=False), ends_with_a_question),
        error=openrouter_error,
    ),
    provider="openrouter",
    endings={**OPENAI_ENDINGS, "error": "broken"},
)
