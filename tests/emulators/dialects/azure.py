"""Azure's deployments of OpenAI's models: the filter's results come first, in a chunk without choices, and later again.

See learn.microsoft.com, "Content filtering": prompt_filter_results, asynchronous filter.
"""

from pydantic import JsonValue

from tests.emulators.dialects.dialect import Dialect
from tests.emulators.dialects.lessons import Lesson
from tests.emulators.dialects.openai import HEAT, LIMIT, named
from tests.emulators.dialects.openai_chat import OpenAiChat
from tests.emulators.model_script import Json

SAFE: JsonValue = {"hate": {"filtered": False, "severity": "safe"}, "jailbreak": {"filtered": False, "detected": False}}
HEAD: Json = {"id": "", "object": "", "created": 0, "model": ""}
OPENING: Json = {**HEAD, "choices": [], "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": SAFE}]}
FILTERED: JsonValue = {
    "index": 0,
    "finish_reason": None,
    "content_filter_offsets": {"check_offset": 44, "start_offset": 44, "end_offset": 198},
    "content_filter_results": SAFE,
}
LESSONS = (Lesson("max_tokens", LIMIT), Lesson("temperature", HEAT, unless=1))
REFUSED_PROMPT: Json = {
    "error": {
        "message": "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. "
        "Please modify your prompt and retry. To learn more about our content filtering policies please read our "
        "documentation: https://go.microsoft.com/fwlink/?linkid=2198766",
        "type": None,
        "param": "prompt",
        "code": "content_filter",
        "status": 400,
        "innererror": {
            "code": "ResponsibleAIPolicyViolation",
            "content_filter_result": {"jailbreak": {"filtered": True, "detected": True}},
        },
    }
}
"""The body of a 400 for a prompt that the filter does not let through."""

AZURE = Dialect(
    "Azure OpenAI",
    "my-deployment",
    "own",
    OpenAiChat(path="/openai/v1", error=named, opening=OPENING),
    provider="azure",
    lessons=LESSONS,
)
AZURE_DEPLOYMENT = Dialect(
    "Azure OpenAI, address with `api-version`",
    "my-deployment",
    "own",
    OpenAiChat(
        path="/openai/deployments/my-deployment",
        version="2024-10-21",
        error=named,
        opening=OPENING,
        after_words={**HEAD, "choices": [FILTERED]},
    ),
    provider="deployment",
    lessons=LESSONS,
)
