"""Azure's deployments of OpenAI's models: the filter's results come first, in a chunk without choices.

See learn.microsoft.com, "Content filtering": prompt_filter_results.
"""

from tests.emulators.dialects.dialect import Dialect
from tests.emulators.dialects.openai import HEAT, LIMIT, named
from tests.emulators.dialects.rules import refuses

AZURE = Dialect(
    "Azure OpenAI",
    "my-deployment",
    "own",
    path="/openai/v1",
    lessons=(refuses("max_tokens", LIMIT), refuses("temperature", HEAT, unless=1)),
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
    cannot="only the address that ends in `/openai/v1`, not one with `api-version`",
)
