"""Azure's deployments of OpenAI's models: the filter's results come first, in a chunk without choices.

See learn.microsoft.com, "Content filtering": prompt_filter_results.
"""

from tests.emulators.dialects.dialect import Dialect
from tests.emulators.dialects.lessons import Lesson
from tests.emulators.dialects.openai import HEAT, LIMIT, named
from tests.emulators.dialects.openai_chat import OpenAiChat

AZURE = Dialect(
    "Azure OpenAI",
    "my-deployment",
    "own",
    OpenAiChat(
        path="/openai/v1",
        error=named,
        opening={
            "id": "",
            "object": "",
            "created": 0,
            "model": "",
            "choices": [],
            "prompt_filter_results": [
                {"prompt_index": 0, "content_filter_results": {"hate": {"filtered": False, "severity": "safe"}}}
            ],
        },
    ),
    lessons=(Lesson("max_tokens", LIMIT), Lesson("temperature", HEAT, unless=1)),
    cannot="only the address that ends in `/openai/v1`, not one with `api-version`",
)
