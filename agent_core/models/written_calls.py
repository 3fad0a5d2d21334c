"""Tool calls that stand in an answer's text, in the notations of Qwen, Kimi, DeepSeek, Llama, Mistral, GLM and others.

Servers should turn them into calls, and many do not, or not always.
"""

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct
from pydantic import JsonValue

from agent_core.json_text import read_first, read_json, read_python
from agent_core.late_pattern import LatePattern
from agent_core.messages import JsonObject
from agent_core.models.bare_channels import CALL, FINAL, NEXT

TAGS = (
    *("<tool_call>", "<function_calls>", "<minimax:tool_call>", "<function=", "<|tool_call|>", "<TOOLCALL>"),
    *("<function_call>", "<functioncall>", "<tool_calls>", "<seed:tool_call>", "<xai:function_call name="),
    *("<antml:function_calls>", "<antml:invoke name=", "<invoke name="),
)
"""Beginnings that people write about, too."""
TOKENS = (
    *("<|tool_calls_section_begin|>", "<|tool_call_begin|>", "<|python_tag|>", "[TOOL_CALLS]"),
    *("<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>", "<｜tool_calls_begin｜>", "<｜tool_call_begin｜>"),
    *("<｜DSML｜function_calls>", "<｜DSML｜tool_calls>", "<｜DSML｜invoke ", "<|tools_prefix|>"),
    *("<|channel|>commentary to=", "<|channel|>analysis to=", "<|start|>assistant to="),
    *("<|start|>assistant<|channel|>commentary to=", "<|START_ACTION|>", "<|tool_call_start|>"),
    *(CALL, "<start_function_call>", "<|python_start|>", "<|action_start|>", "<|tool_call>", "<longcat_tool_call>"),
)
"""Beginnings that are tokens of the models' own."""

_ENDS = {
    "<tool_call>": ("</tool_call>",),
    "<|tool_call|>": ("<|/tool_call|>",),
    "<|tool_call_begin|>": ("<|tool_call_end|>",),
    "<｜tool▁call▁begin｜>": ("<｜tool▁call▁end｜>",),
    "<｜tool_call_begin｜>": ("<｜tool_call_end｜>",),
    "<|tools_prefix|>": ("<|tools_suffix|>",),
    "<invoke ": ("</invoke>",),
    "<｜DSML｜invoke ": ("</｜DSML｜invoke>",),
    "<function=": ("</function>",),
    "<|channel|>commentary to=": ("<|call|>",),
    "<|channel|>analysis to=": ("<|call|>",),
    "<|start|>assistant to=": ("<|call|>",),
    "<|python_tag|>": ("<|eom_id|>", "<|eot_id|>"),
    "[TOOL_CALLS]": ("</s>",),
    "<TOOLCALL>": ("</TOOLCALL>",),
    "<|START_ACTION|>": ("<|END_ACTION|>",),
    "<|tool_call_start|>": ("<|tool_call_end|>",),
    "<start_function_call>": ("<end_function_call>",),
    "<function_call>": ("</function_call>",),
    "<functioncall>": ("</functioncall>",),
    "<tool_calls>": ("</tool_calls>",),
    "<xai:function_call ": ("</xai:function_call>",),
    "<antml:invoke ": ("</antml:invoke>",),
    "<|python_start|>": ("<|python_end|>",),
    "<|action_start|>": ("<|action_end|>",),
    "<|tool_call>": ("<tool_call|>",),
    "<longcat_tool_call>": ("</longcat_tool_call>",),
    CALL: (FINAL, NEXT),
}
"""The beginning of a call, and the marks that end it; its own beginning and the end of the text end it as well."""


def _any_of(marks: Iterable[str]) -> LatePattern:
    return LatePattern("|".join(map(re.escape, marks)))


_BEGINS = _any_of(_ENDS)
_ENDED = {begin: _any_of((*ends, begin)) for begin, ends in _ENDS.items()}
_AROUND = LatePattern(
    r"<\|tool_calls_section_(?:begin|end)\|>|<｜tool[▁_]calls[▁_](?:begin|end)｜>"
    r"|</?(?:｜DSML｜|antml:)?(?:function|tool)_calls>|</(?:answer|response|final|final_answer|solution|output)>"
    r"|</?(?:minimax|seed):tool_call>|</tool_call>|<\|start\|>assistant|<\|im_end\|>|<\|eot_id\|>|<\|eom_id\|>|</s>|<｜end▁of▁sentence｜>"
)
_SEPARATORS = ("<|tool_call_argument_begin|>", "<｜tool▁sep｜>", "<｜tool_sep｜>", "[ARGS]", "<|message|>")
_NAME = LatePattern(r"[\w.:/-]{1,80}")
_NAMED = LatePattern(r'"(?:name|function)"\s{0,9}:\s{0,9}"([^"]{1,80})"')
_ARGUMENTS = LatePattern(r'"(?:arguments|parameters)"\s{0,9}:')
_PARAMETER = LatePattern(r'<(?:｜DSML｜|antml:)?parameter(?:=| name=)"?([^">]{1,80})"?[^>]{0,40}>')
_ENDS_OF_PARAMETER = ("</parameter>", "</｜DSML｜parameter>", "</antml:parameter>")
_KEY = "<arg_key>", "</arg_key>"
_VALUE = "<arg_value>", "</arg_value>"
_GIVEN = ("arguments", "parameters")
_NAMED_BY = ("name", "tool_name", "function", "tool")
_GIVEN_BY = (*_GIVEN, "args", "tool_input", "input")
_TOOL_CODE = LatePattern(r"```tool_code\n(.*?)\n?```", re.DOTALL)
_FENCED = LatePattern(r"(?:```tool_calls?\n|functools(?=\[))(.*?)(?:\n?```)?", re.DOTALL)
_GEMMA = LatePattern(r"call:([\w.-]{1,80})\{(.*)\}", re.DOTALL)
_GEMMA_VALUE = LatePattern(r"\b(\w++):(?:(<escape>|<\|\"\|>)(.*?)\2|([^,{}\[\]]*))", re.DOTALL)
_CALLED = LatePattern(r"[\w.]{1,80}\(")
_BETWEEN = LatePattern(r"[\s;,]*")


class WrittenCall(Struct, frozen=True):
    name: str
    arguments: str
    """As JSON, or what should be JSON."""


def calls_in(text: str, tools: Mapping[str, JsonObject]) -> tuple[list[WrittenCall], str]:
    """Return the calls in a text, and the rest of the text."""
    calls: list[WrittenCall] = []
    rest: list[str] = []
    place = 0
    while begin := _BEGINS.search(text, place):
        end = _ENDED[begin[0]].search(text, begin.end())
        until = end.start() if end else len(text)
        written = list(_read(text[begin.end() : until], tools))
        rest.append(text[place : begin.start() if written else until])
        calls += written
        place = until if end is None or end[0] == begin[0] else end.end()
    rest.append(text[place:])
    if not calls:  # Olmo's, a call of Python's on each line
        lines = _AROUND.sub("", text).strip().splitlines()
        return (found, "") if (found := _of_tools(_pythonic(f"[{','.join(lines)}]"), tools)) else ([], text)
    return calls, _AROUND.sub("", "".join(rest))


def calls_at_the_end(text: str, tools: Mapping[str, JsonObject]) -> tuple[list[WrittenCall], str]:
    """Return the calls with which a text ends, and the text before them; no calls if words follow these."""
    calls, rest = calls_in(text, tools)
    if not calls or not text.startswith(rest.rstrip()):
        return [], text
    return calls, rest


def whole_calls(text: str, tools: Mapping[str, JsonObject]) -> list[WrittenCall]:
    """Return the calls of tools if a text is nothing but these, as Llama's and Gemma's models write them."""
    bare = text.strip()
    if in_json := _FENCED.fullmatch(bare):
        bare = in_json[1].strip()
    if fenced := _TOOL_CODE.fullmatch(bare):
        found = list(_pythonic(fenced[1].strip()))
    else:
        found = list(_plain_calls(bare)) or (list(_pythonic(bare)) if bare.startswith("[") else [])
    return _of_tools(found, tools)


def _of_tools(calls: Iterable[WrittenCall], tools: Mapping[str, JsonObject]) -> list[WrittenCall]:
    """Return the calls if all of them are of tools that are there."""
    found = list(calls)
    return found if all(each.name in tools for each in found) else []


def _plain_calls(text: str) -> Iterator[WrittenCall]:
    """Yield the calls of a text that is JSON of calls alone."""
    if not text.startswith(("{", "[")):
        return
    try:
        value = read_json(text, strict=False)
    except ValueError:
        value = read_python(f"[{text.replace('}; {', '}, {')}]")  # Llama's, one behind the other
    if isinstance(value, dict) and len(value) == 1:
        value = value.get("tool_calls", value.get("function_call", value))
    listed = value if isinstance(value, list) else [value]
    calls = [_of_json(each) for each in listed if _has_arguments(each)]
    if len(calls) == len(listed):
        yield from (each for each in calls if each is not None)


def _has_arguments(value: JsonValue) -> bool:
    """Return True for an object that has the name and the arguments of a call, and nothing else."""
    if not isinstance(value, dict):
        return False
    inside = value.get("function", value)
    if not isinstance(inside, dict) or not {*value, *inside} <= {"id", "type", "function", "name", *_GIVEN}:
        return False
    return any(isinstance(inside.get(name), dict) for name in _GIVEN)


def _pythonic(body: str) -> Iterator[WrittenCall]:
    """Yield the calls of a body that is Python: `clock(zone="UTC")`, or a list of such."""
    try:
        tree = ast.parse(body, mode="eval").body
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return
    called = map(_printed, tree.elts if isinstance(tree, ast.List) else [tree])
    try:
        for each in called:
            if isinstance(each, ast.Call) and not each.args and isinstance(each.func, ast.Name | ast.Attribute):
                values = {str(word.arg): ast.literal_eval(word.value) for word in each.keywords if word.arg}
                name = ast.unparse(each.func).removeprefix("default_api.").removesuffix(".call")
                yield WrittenCall(name, json.dumps(values, ensure_ascii=False))
    except (ValueError, TypeError, RecursionError):
        return


def _printed(call: ast.expr) -> ast.expr:
    """Return what a call of `print` has inside, as Gemini's models write it, or else the call itself."""
    match call:
        case ast.Call(func=ast.Name(id="print"), args=[printed]):
            return printed
    return call


def _read(inside: str, tools: Mapping[str, JsonObject]) -> Iterator[WrittenCall]:
    """Yield the calls inside of a mark; nothing if there is none that can be made out."""
    body = inside.strip().removeprefix("<|plugin|>").lstrip().replace("longcat_arg_", "arg_")
    if (gemma := _GEMMA.fullmatch(body)) is not None:
        values = {each[1]: each[3] if each[3] is not None else each[4] for each in _GEMMA_VALUE.finditer(gemma[2])}
        yield _typed(gemma[1], values, tools)
    elif body.startswith("[") and (pythonic := list(_pythonic(body))):
        yield from pythonic
    elif body.startswith(("{", "[")):
        yield from _from_json(body)
    elif _CALLED.match(body) and (called := list(_pythonic(body))):
        yield from called
    elif body.startswith("<function="):
        yield from _with_parameters(body.removeprefix("<function="), tools)
    elif any(mark in body for mark in _SEPARATORS):
        yield from _separated(body)
    elif _PARAMETER.search(body) or body.startswith("name="):
        yield from _with_parameters(body.removeprefix("name="), tools)
    elif _KEY[0] in body:
        yield from _with_keys(body, tools)
    elif (name := _NAME.match(body)) and (given := _bare(body[name.end() :])).startswith("{"):
        yield WrittenCall(name[0], given)


def _bare(arguments: str) -> str:
    """Return the arguments behind a name, without what gpt-oss writes before them."""
    text = arguments.lstrip(" >\n")
    return text.removeprefix("json").removeprefix("code").lstrip()


def _from_json(body: str) -> Iterator[WrittenCall]:
    place, found = 0, False
    while place < len(body):
        try:
            value, place = read_first(body, place, strict=False)
        except ValueError:
            break
        for each in value if isinstance(value, list) else [value]:
            if (call := _of_json(each)) is not None:
                found = True
                yield call
        place = between.end() if (between := _BETWEEN.match(body, place)) else place
    if not found and (call := _of_json(read_python(body))) is not None:  # in single quotes
        yield call
    elif not found and (named := _NAMED.search(body)):
        arguments = _ARGUMENTS.search(body)
        yield WrittenCall(named[1], body[arguments.end() :].strip() if arguments else "{")


def _of_json(value: JsonValue) -> WrittenCall | None:
    if not isinstance(value, dict):
        return None
    inside = value.get("function")
    if isinstance(inside, dict):
        value = inside
    if len(value) == 1 and isinstance(given := next(iter(value.values())), dict):  # Apertus
        value = {"name": next(iter(value)), "arguments": given}
    name = next((told for each in _NAMED_BY if (told := value.get(each))), None)
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return None
    arguments = next((value[each] for each in _GIVEN_BY if each in value), None)
    return WrittenCall(name, arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False))


def _separated(body: str) -> Iterator[WrittenCall]:
    """Yield the call of a body with a separator: Kimi's, DeepSeek's, Mistral's, gpt-oss's."""
    mark = next(each for each in _SEPARATORS if each in body)
    head, _, arguments = body.partition(mark)
    if head.strip() == "function":  # DeepSeek's older form: the kind, the name, a code fence
        head, _, arguments = arguments.partition("\n")
    if " to=" in f" {head}":
        head = head.partition("to=")[2]
    if name := _NAME.match(head.strip()):
        yield WrittenCall(name[0], arguments.strip())


def _with_parameters(body: str, tools: Mapping[str, JsonObject]) -> Iterator[WrittenCall]:
    """Yield a call whose parameters stand in tags."""
    name = _NAME.match(body.strip().lstrip('"'))
    if not name:
        return
    rest = body.partition(">")[2].strip()
    if rest.startswith("{"):
        yield WrittenCall(name[0], rest)
        return
    marks = list(_PARAMETER.finditer(body))
    values: dict[str, str] = {}
    for number, mark in enumerate(marks):
        until = marks[number + 1].start() if number + 1 < len(marks) else len(body)
        value = body[mark.end() : until]
        cut = max(map(value.rfind, _ENDS_OF_PARAMETER))
        values[mark[1].strip()] = value[:cut] if cut >= 0 else value
    yield _typed(name[0], values, tools)


def _with_keys(body: str, tools: Mapping[str, JsonObject]) -> Iterator[WrittenCall]:
    """Yield a call of GLM's: its name, then keys and values in tags."""
    name = _NAME.match(body)
    if not name:
        return
    values: dict[str, str] = {}
    for piece in body.split(_KEY[0])[1:]:
        key, _, rest = piece.partition(_KEY[1])
        values[key.strip()] = rest.partition(_VALUE[0])[2].partition(_VALUE[1])[0]
    yield _typed(name[0], values, tools)


def _typed(name: str, values: Mapping[str, str], tools: Mapping[str, JsonObject]) -> WrittenCall:
    """Return a call with the values as the tool's schema wants them: as texts, or read as JSON."""
    properties = tools.get(name, {}).get("properties")
    arguments: JsonObject = {}
    for key, raw in values.items():
        text = raw.removeprefix("\n").removesuffix("\n")
        about = properties.get(key) if isinstance(properties, dict) else None
        is_text = isinstance(about, dict) and about.get("type") == "string"
        arguments[key] = text if is_text else _value(text)
    return WrittenCall(name, json.dumps(arguments, ensure_ascii=False))


def _value(text: str) -> JsonValue:
    try:
        return read_json(text, strict=False)
    except ValueError:
        return text
