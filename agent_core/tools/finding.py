"""Finds tools of servers by words, for models that have too many for each request."""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from agent_core.late_pattern import LatePattern
from agent_core.messages import AgentMessage, AssistantMessage, SummaryMessage, TextContent, ToolResultMessage
from agent_core.models.llm import ToolSpec
from agent_core.origin import Origin
from agent_core.sources import parted, server
from agent_core.tool_result import ToolResult
from agent_core.tools.tool import Tool, tool

FIND = "find_tools"
"""The name of the tool."""
MOST = 40
"""Tools that may all be in each request: Parley's own, those of skills, plugins and servers."""
AT_ONCE = 8
"""Most tools found by one call."""
LONGEST_LINE = 240
"""Characters of a found tool's line."""
LONGEST_LIST = 6_000
"""Characters of the names of all tools, where nothing fits."""
_NAME, _DESCRIPTION = 3.0, 1.0
"""The weight of a word by where it stands; names of arguments count as the description."""
_ALIKE = 0.6
"""The weight of a word that only contains the one that is asked for, or is contained in it."""
_SHORTEST = 4
"""Letters from which words may be alike."""
_AT_LEAST = 0.6
"""Tools with less than this part of the best one's weight do not count as found."""
_WORD = re.compile(r"[^\W_]+")
_EMPTY = frozenset(
    _WORD.findall(
        "a an and any as at by can do for from i in into is it its mcp me my of on one or own please server that the "
        "this to tool tools use want with words you your"
    )
)
"""Words that tell nothing of a tool."""
_INSIDE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_UNSPACED = LatePattern(r"[\u3040-\u30ff\u3400-\u9fff]+")
"""Scripts without spaces; two characters count as a word."""
_ENDINGS = ("ing", "es", "ed", "s")


def find_tools_tool(others: Callable[[], Mapping[str, Tool]], origin: Callable[[], Origin]) -> Tool:
    """Return the tool `find_tools` for these tools, which are described by `origin`."""

    @tool(execution="parallel", label="Looking for a tool: {words}", labels={"zh": "查找工具：{words}"})
    async def find_tools(words: str) -> ToolResult:
        """Find more tools by words for what they do, in the language of their descriptions. Those found can be called
        from then on."""
        known = others()
        found = best_of(words, known)
        lines = [_line(known[name].spec) for name in found]
        text = "\n".join(["You can call these now:", *lines]) if found else _nothing(known)
        return ToolResult(content=(TextContent(text=text),), details={"found": list(found)}, origin=origin())

    return find_tools


def spec_of(search: Tool, others: Iterable[Tool]) -> ToolSpec:
    """Return `find_tools` as models see it, with the names of the servers whose tools it finds."""
    names = sorted({parted(each.source)[1] for each in others if each.source == server(parted(each.source)[1])})
    if not names:
        return search.spec
    return search.spec.model_copy(update={"description": f"{search.spec.description} Servers: {', '.join(names)}."})


def named_in(message: AgentMessage) -> tuple[str, ...]:
    """Return the tools that a message has found or called, or that a summary carries on."""
    match message:
        case AssistantMessage():
            return tuple(call.name for call in message.tool_calls)
        case ToolResultMessage(tool_name="find_tools", details={"found": list(found)}):
            return tuple(each for each in found if isinstance(each, str))
        case SummaryMessage():
            return message.tools
        case _:
            return ()


def best_of(words: str, tools: Mapping[str, Tool]) -> Sequence[str]:
    """Return the names of the tools that fit the words best, the best one first."""
    weights: dict[str, float] = defaultdict(float)
    index = _index(tools)
    for word in dict.fromkeys(_words(words)):
        fits = _fitting(word, index)
        rare = math.log(1 + len(tools) / len(fits)) if fits else 0.0
        for name, weight in fits.items():
            weights[name] += weight * rare
    exact = [name for name in dict.fromkeys(re.findall(r"[\w.-]+", words)) if name in tools]
    least = _AT_LEAST * max(weights.values(), default=0.0)
    ranked = sorted((name for name in weights if weights[name] >= least), key=lambda name: (-weights[name], name))
    return exact[:AT_ONCE] or ranked[:AT_ONCE]


def _index(tools: Mapping[str, Tool]) -> Mapping[str, Mapping[str, float]]:
    """Return each word with the tools in which it stands, and how much it counts there."""
    index: dict[str, dict[str, float]] = defaultdict(dict)
    for name, each in tools.items():
        arguments = each.spec.parameters.get("properties")
        said = f"{each.spec.description} {' '.join(arguments) if isinstance(arguments, dict) else ''}"
        for word in _words(said):
            index[word][name] = _DESCRIPTION
        for word in _words(name):
            index[word][name] = _NAME
    return index


def _fitting(word: str, index: Mapping[str, Mapping[str, float]]) -> Mapping[str, float]:
    """Return the tools in which a word stands, or one that is like it."""
    fits: dict[str, float] = {}
    for other, tools in index.items():
        if likeness := _likeness(word, other):
            for name, weight in tools.items():
                fits[name] = max(fits.get(name, 0.0), weight * likeness)
    return fits


def _likeness(word: str, other: str) -> float:
    if word == other:
        return 1.0
    short, long = sorted((word, other), key=len)
    return _ALIKE if len(short) >= _SHORTEST and short in long else 0.0


def _words(text: str) -> Iterator[str]:
    for found in _WORD.findall(_INSIDE.sub(" ", text)):
        word = found.lower()
        for run in _UNSPACED.findall(word):
            yield from (run[place : place + 2] for place in range(max(1, len(run) - 1)))
        yield from (_stem(part) for part in _UNSPACED.split(word) if part and part not in _EMPTY)


def _stem(word: str) -> str:
    ending = next((each for each in _ENDINGS if word.endswith(each) and len(word) - len(each) >= _SHORTEST), "")
    return word.removesuffix(ending)


def _line(spec: ToolSpec) -> str:
    line = " ".join(f"- {spec.name}: {spec.description}".split())
    return line if len(line) <= LONGEST_LINE else f"{line[: LONGEST_LINE - 1]}…"


def _nothing(tools: Mapping[str, Tool]) -> str:
    names = ", ".join(sorted(tools))
    listed = names if len(names) <= LONGEST_LIST else f"{names[:LONGEST_LIST].rpartition(',')[0]}, …"
    return f"Nothing fits these words. Try others, or the name of one of these {len(tools)} tools: {listed}"
