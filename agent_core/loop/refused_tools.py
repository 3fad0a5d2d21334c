"""Finds the tools for which a model's server refused a request."""

import re
from collections.abc import Sequence

from agent_core.models.llm import FailureKind, LlmFailure, ToolSpec

_PLACE = re.compile(r"\bfunction_?declarations\W{1,2}(\d{1,4})|\btools\W{1,2}(\d{1,4})", re.IGNORECASE)
"""OpenAI: tools[3].parameters; Anthropic: tools.3.custom.input_schema; Gemini: tools[0].function_declarations[3]."""
_NAME = re.compile(r"[\w-]+")


def refused_tools(failure: LlmFailure, tools: Sequence[ToolSpec]) -> list[str]:
    """Return the names of the tools that the server's words name, by name or by place."""
    if failure.kind is not FailureKind.INVALID:
        return []
    words = set(_NAME.findall(failure.message))
    if named := [each.name for each in tools if each.name in words]:
        return named
    found = _PLACE.findall(failure.message)
    declared = [int(place) for place, _ in found if place]
    places = declared or [int(place) for _, place in found if place]
    return [tools[place].name for place in dict.fromkeys(places) if place < len(tools)]
