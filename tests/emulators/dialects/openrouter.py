"""OpenRouter: reasoning comes as `reasoning_details`, whose blocks go back in order and unchanged.

See openrouter.ai/docs, "Reasoning tokens: preserving reasoning blocks". Its errors have a number as code.
"""

from tests.emulators.dialects.dialect import Dialect
from tests.emulators.dialects.endings import OPENAI_ENDINGS
from tests.emulators.dialects.openai_chat import OpenAiChat
from tests.emulators.dialects.rules import wants_back
from tests.emulators.model_script import Json

MISSING = "Provider returned error: messages.{}: reasoning_details of the tool call are missing or were modified"


def openrouter_error(sentence: str) -> Json:
    return {"error": {"message": sentence, "code": 400}, "user_id": "user_emulated"}


OPENROUTER = Dialect(
    "OpenRouter",
    "anthropic/claude-sonnet-5",
    "own",
    OpenAiChat(
        path="/api/v1",
        reasoning_in="reasoning_details",
        parameters=frozenset({"reasoning", "usage", "include_reasoning"}),
        rules=(wants_back("reasoning_details", MISSING, of_all=False),),
        error=openrouter_error,
    ),
    provider="openrouter",
    endings={**OPENAI_ENDINGS, "error": "broken"},
)
