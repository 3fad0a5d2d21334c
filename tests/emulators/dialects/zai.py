"""GLM at Z.ai: thinks with `reasoning_content`, which may come back; its errors are numbers with few words.

The sentences are those of cline/cline issue 9939 and anomalyco/opencode issue 2557, where a request without a person's
message was refused; the reasons are those of docs.z.ai/api-reference/llm/chat-completion.
"""

from tests.emulators.dialects.dialect import Dialect
from tests.emulators.dialects.endings import LOCAL_ENDINGS
from tests.emulators.dialects.lessons import Lesson
from tests.emulators.dialects.openai_chat import Handed, OpenAiChat, messages_of
from tests.emulators.model_script import Json

UNKNOWN = "Invalid API parameter, please check the documentation."
ILLEGAL = "The messages parameter is illegal. Please check the documentation."


def zai_error(sentence: str) -> Json:
    return {"error": {"code": "1214" if sentence == ILLEGAL else "1210", "message": sentence}}


def has_a_question(body: Json, handed: Handed) -> str | None:
    """Refuse a request without a person's message."""
    return None if any(message.get("role") == "user" for message in messages_of(body)) else ILLEGAL


ZAI = Dialect(
    "GLM (Z.ai)",
    "glm-5",
    "litellm",
    OpenAiChat(
        path="/api/paas/v4",
        reasoning_in="reasoning_content",
        parameters=frozenset({"thinking", "do_sample", "request_id"}),
        rules=(has_a_question,),
        error=zai_error,
    ),
    provider="zai",
    lessons=(Lesson("max_completion_tokens", UNKNOWN, known=True), Lesson("reasoning_effort", UNKNOWN, known=True)),
    endings={
        **LOCAL_ENDINGS,
        "model_context_window_exceeded": "cut",
        "sensitive": "refused",
        "network_error": "broken",
    },
)
