"""Requests that Gemini refuses, with its error messages.

The sentences are those of ai.google.dev and of reports such as google-gemini/gemini-cli issue 17208,
googleapis/js-genai issue 1275 and earendil-works/pi issue 471; that of results out of order is the emulator's own.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise

from pydantic import JsonValue

from tests.emulators.gemini_fields import REQUEST, Refused, in_camel_case
from tests.emulators.model_script import Json

NO_SIGNATURE = (
    "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, "
    "and missing thought_signature may lead to degraded model performance. Additional data, function call "
    "`default_api:{}` , position {}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more "
    "details."
)
OTHER_SIGNATURE = "Corrupted thought signature."
STANDS_IN = frozenset({"c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I=", "skip_thought_signature_validator"})
"""The signature for calls of other models, which is not checked."""
NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}")
TYPES = frozenset({"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"})
FORMATS: Mapping[str, frozenset[str]] = {
    "STRING": frozenset({"enum", "date-time"}),
    "NUMBER": frozenset({"float", "double"}),
    "INTEGER": frozenset({"int32", "int64"}),
}
ONE_OF = ("text", "inlineData", "functionCall", "functionResponse")


def request_of(body: Json) -> Json:
    """Return the body with its names in camelCase. Raises Refused for a name that Gemini does not know."""
    request = in_camel_case(body, REQUEST)
    assert isinstance(request, dict)
    return request


def check(request: Json, signatures: Mapping[str, str], *, is_third: bool) -> None:
    """Raise Refused for the first violation. `signatures` are those handed out, by call; `is_third` is True for models
    of the third generation and later, which give ids to calls and check signatures."""
    contents = objects(request.get("contents"))
    if not contents:
        raise Refused("* GenerateContentRequest.contents: contents is not specified")
    for place, content in enumerate(contents):
        _check_content(content, f"GenerateContentRequest.contents[{place}]")
    _check_order(contents)
    for place, call in calls_in(contents):
        if not is_third and "id" in _object(call.get("functionCall")):
            where = f"contents[{place}].parts[0].function_call"
            raise Refused(f"Invalid JSON payload received. Unknown name \"id\" at '{where}': Cannot find field.")
    if is_third:
        _check_signatures(contents, signatures)
    _check_tools(request)
    _check_settings(_object(request.get("generationConfig")), is_third=is_third)


def calls_in(contents: list[Json]) -> Iterator[tuple[int, Json]]:
    """Yield the parts with calls, each with the place of its content."""
    for place, content in enumerate(contents):
        for part in _parts(content, "functionCall"):
            yield place, part


def _check_content(content: Json, at: str) -> None:
    if content.get("role") not in ("user", "model"):
        raise Refused(f"* {at}.role: Please use a valid role: user, model.")
    parts = objects(content.get("parts"))
    if not parts:
        raise Refused(f"* {at}.parts: contents.parts must not be empty.")
    for place, part in enumerate(parts):
        if sum(name in part for name in ONE_OF) != 1 or part.get("text") == "":
            raise Refused(f"* {at}.parts[{place}].data: required oneof field 'data' must have one initialized field")
        response = _object(part.get("functionResponse"))
        if response and not (response.get("name") and isinstance(response.get("response"), dict)):
            raise Refused(f"* {at}.parts[{place}].function_response.name: Name cannot be empty.")


def _check_order(contents: list[Json]) -> None:
    for before, after in pairwise([None, *contents]):
        assert after is not None
        calls, answers = _parts(before, "functionCall"), _parts(after, "functionResponse")
        if before is not None and before.get("role") == after.get("role"):
            if _parts(after, "functionCall"):
                raise Refused(
                    "Please ensure that function call turn comes immediately after a user turn or after a function "
                    "response turn."
                )
            raise Refused("Please ensure that multiturn requests alternate between user and model.")
        if before is None and after.get("role") != "user":
            raise Refused(
                "Please ensure that function call turn comes immediately after a user turn or after a function "
                "response turn."
            )
        if answers and not calls:
            raise Refused("Please ensure that function response turn comes immediately after a function call turn.")
        if len(answers) != len(calls):
            raise Refused(
                "Please ensure that the number of function response parts is equal to the number of function call "
                "parts of the function call turn."
            )
        _check_answers(calls, answers)
    if contents[-1].get("role") != "user":
        raise Refused("Please ensure that multiturn requests ends with a user role or a function response.")


def _check_answers(calls: list[Json], answers: list[Json]) -> None:
    """Check that the results come in the order of their calls."""
    for call, answer in zip(calls, answers, strict=True):
        asked, given = _object(call.get("functionCall")), _object(answer.get("functionResponse"))
        if asked.get("name") != given.get("name") or asked.get("id") != given.get("id"):
            raise Refused(
                f"Function response {given.get('name')} with the id {given.get('id')} does not match the function call "
                f"{asked.get('name')} with the id {asked.get('id')}."
            )


def _check_signatures(contents: list[Json], signatures: Mapping[str, str]) -> None:
    """Check that the signatures come back where they were, and that the first call of each answer has one."""
    for place, content in enumerate(contents):
        for number, part in enumerate(_parts(content, "functionCall")):
            call = _object(part.get("functionCall"))
            given, handed = part.get("thoughtSignature"), signatures.get(str(call.get("id")))
            if number == 0 and not given:
                raise Refused(NO_SIGNATURE.format(call.get("name"), place))
            if handed is None and given not in (None, *STANDS_IN):
                raise Refused(OTHER_SIGNATURE)
            if handed is not None and given != handed:
                raise Refused(OTHER_SIGNATURE)


def _check_tools(request: Json) -> None:
    for place, tool in enumerate(objects(request.get("tools"))):
        names = set()
        for number, declared in enumerate(objects(tool.get("functionDeclarations"))):
            at = f"GenerateContentRequest.tools[{place}].function_declarations[{number}]"
            name = str(declared.get("name", ""))
            if not NAME.fullmatch(name):
                raise Refused(f"* {at}.name: Invalid function name. Must start with a letter or an underscore.")
            if name in names:
                raise Refused(f"Duplicate function declaration found: {name}")
            names.add(name)
            if "parameters" in declared:
                _check_schema(_object(declared["parameters"]), f"{at}.parameters")
    calling = _object(_object(request.get("toolConfig")).get("functionCallingConfig"))
    if calling and not request.get("tools"):
        raise Refused("Function calling config is set without function_declarations.")


def _check_schema(schema: Json, at: str) -> None:
    kind = str(schema.get("type", "")).upper()
    branches = objects(schema.get("anyOf"))
    if not branches and kind not in TYPES:
        raise Refused(f"* {at}.type: must be specified")
    _check_choices(schema, kind, at)
    properties = _object(schema.get("properties"))
    if kind == "OBJECT" and "properties" in schema and not properties:
        raise Refused(f"* {at}.properties: should be non-empty for OBJECT type")
    required = schema.get("required")
    for number, name in enumerate(required if isinstance(required, list) else []):
        if name not in properties:
            raise Refused(f"* {at}.required[{number}]: property is not defined")
    if kind == "ARRAY" and not schema.get("items"):
        raise Refused(f"* {at}.items: missing field.")
    for name, each in properties.items():
        _check_schema(_object(each), f"{at}.properties[{name}]")
    for place, each in enumerate(branches):
        _check_schema(each, f"{at}.any_of[{place}]")
    if kind == "ARRAY":
        _check_schema(_object(schema["items"]), f"{at}.items")


def _check_choices(schema: Json, kind: str, at: str) -> None:
    choices = schema.get("enum")
    if choices is not None and kind != "STRING":
        raise Refused(f"* {at}.enum: only allowed for STRING type")
    if isinstance(choices, list) and "" in choices:
        raise Refused(f"* {at}.enum[{choices.index('')}]: cannot be empty")
    if "format" in schema and schema["format"] not in FORMATS.get(kind, frozenset()):
        raise Refused(f"* {at}.format: only 'enum' and 'date-time' are supported for STRING type")


def _check_settings(settings: Json, *, is_third: bool) -> None:
    thinking = _object(settings.get("thinkingConfig"))
    if "thinkingBudget" in thinking and "thinkingLevel" in thinking:
        raise Refused("You can only set only one of thinking budget and thinking level.")
    if "thinkingLevel" in thinking and not is_third:
        raise Refused("Thinking level is not supported for this model.")
    heat = settings.get("temperature")
    if heat is not None and not (isinstance(heat, int | float) and 0 <= heat <= 2):
        raise Refused(f"* GenerateContentRequest.generation_config.temperature: {heat} is not in [0.0, 2.0]")


def _parts(content: Json | None, kind: str) -> list[Json]:
    return [part for part in objects((content or {}).get("parts")) if kind in part]


def _object(value: JsonValue) -> Json:
    return value if isinstance(value, dict) else {}


def objects(value: JsonValue) -> list[Json]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
