"""Grok at xAI: thinks without saying what; its errors are a code and a sentence, side by side.

The sentences are those of langchain-ai/langchain issue 34140 and earendil-works/pi issue 8381.
"""

from tests.emulators.dialects.dialect import Dialect
from tests.emulators.dialects.endings import LOCAL_ENDINGS
from tests.emulators.dialects.lessons import Lesson
from tests.emulators.dialects.openai_chat import OpenAiChat
from tests.emulators.dialects.rules import no_empty_message
from tests.emulators.model_script import Json

EMPTY = "Invalid request content: Each message must have at least one content element."
NO_EFFORT = "Model grok-build-0.1 does not support parameter reasoningEffort."


def xai_error(sentence: str) -> Json:
    return {"code": "Client specified an invalid argument", "error": sentence}


XAI = Dialect(
    "xAI (Grok)",
    "grok-build-0.1",
    "litellm",
    OpenAiChat(rules=(no_empty_message(EMPTY),), error=xai_error),
    provider="xai",
    lessons=(Lesson("reasoning_effort", NO_EFFORT),),
    endings=LOCAL_ENDINGS,
    cannot="no words of the reasoning",
)
