"""The fields of Gemini's `generateContent` requests: Google refuses any other name, wherever it stands.

See ai.google.dev/api/generate-content. Google takes each name in camelCase and in snake_case.
"""

import re
from dataclasses import dataclass, field

from pydantic import JsonValue

from tests.emulators.model_script import Json


class Refused(Exception):
    """The request is refused; the text is Google's."""


@dataclass
class Fields:
    """The names in an object. Names of `inner` hold objects with fields of their own, or lists of such."""

    plain: str = ""
    inner: dict[str, "Fields | None"] = field(default_factory=dict)
    named: "Fields | None" = None
    """Set if the object maps any name to an object with these fields."""

    def of(self, name: str) -> "Fields | None":
        return self.named or self.inner.get(name)

    def knows(self, name: str) -> bool:
        return self.named is not None or name in self.inner or name in self.plain.split()


SCHEMA = Fields(
    "type format title description nullable enum maxItems minItems required minProperties maxProperties minLength "
    "maxLength pattern example propertyOrdering default minimum maximum"
)
SCHEMA.inner = {"properties": Fields(named=SCHEMA), "items": SCHEMA, "anyOf": SCHEMA}
BLOB = Fields("mimeType data displayName")
CALL = Fields("id name args")
RESPONSE = Fields("id name response parts willContinue scheduling")
PART = Fields("text thought thoughtSignature", {"inlineData": BLOB, "functionCall": CALL, "functionResponse": RESPONSE})
CONTENT = Fields("role", {"parts": PART})
DECLARATION = Fields("name description behavior parametersJsonSchema responseJsonSchema", {"parameters": SCHEMA})
TOOL = Fields("googleSearch codeExecution urlContext", {"functionDeclarations": DECLARATION})
CALLING = Fields("mode allowedFunctionNames")
THINKING = Fields("includeThoughts thinkingBudget thinkingLevel")
GENERATION = Fields(
    "stopSequences responseMimeType responseSchema responseJsonSchema responseModalities candidateCount "
    "maxOutputTokens temperature topP topK seed presencePenalty frequencyPenalty responseLogprobs logprobs "
    "speechConfig imageConfig mediaResolution",
    {"thinkingConfig": THINKING},
)
REQUEST = Fields(
    "safetySettings cachedContent",
    {
        "contents": CONTENT,
        "systemInstruction": CONTENT,
        "tools": TOOL,
        "toolConfig": Fields("", {"functionCallingConfig": CALLING}),
        "generationConfig": GENERATION,
    },
)


def in_camel_case(value: JsonValue, fields: Fields | None, at: str = "") -> JsonValue:
    """Return the value with names in camelCase. Raises Refused for a name that Google does not know."""
    if isinstance(value, list):
        return [in_camel_case(each, fields, f"{at}[{place}]") for place, each in enumerate(value)]
    if fields is None or not isinstance(value, dict):
        return value
    found: Json = {}
    for written, inner in value.items():
        name = written if fields.named else _camel(written)
        if not fields.knows(name):
            place = f" at '{at}'" if at else ""
            raise Refused(f'Invalid JSON payload received. Unknown name "{written}"{place}: Cannot find field.')
        found[name] = in_camel_case(inner, fields.of(name), f"{at}.{_snake(name)}".lstrip("."))
    return found


def _camel(name: str) -> str:
    return re.sub("_([a-z])", lambda found: found[1].upper(), name)


def _snake(name: str) -> str:
    return re.sub("[A-Z]", lambda found: f"_{found[0].lower()}", name)
