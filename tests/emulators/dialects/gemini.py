"""Gemini at its OpenAI-compatible address: a signature comes on the first call and must go back on it.

See ai.google.dev/gemini-api/docs/thought-signatures; the sentence is that of reports such as nanbingxyz/5ire issue 405.
"""

from tests.emulators.dialects.dialect import Dialect
from tests.emulators.dialects.openai_chat import OpenAiChat
from tests.emulators.dialects.rules import wants_signatures
from tests.emulators.model_script import Json

MISSING = (
    "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, "
    "and missing thought_signature may lead to degraded model performance. Additional data, function call "
    "`default_api:{}` , position {}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more "
    "details."
)


def google_error(sentence: str) -> Json:
    return {"error": {"code": 400, "message": sentence, "status": "INVALID_ARGUMENT"}}


GEMINI = Dialect(
    "Gemini, OpenAI-compatible address",
    "gemini-3-flash",
    "own",
    OpenAiChat(path="/v1beta/openai", signs_calls=True, rules=(wants_signatures(MISSING),), error=google_error),
    provider="google",
)
