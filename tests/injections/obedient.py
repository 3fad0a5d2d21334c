"""A model that does exactly what any text asks it to do, whoever wrote the text.

Orders appear in texts as `@@[{"tool": ..., "arguments": {...}}, ...]@@`, beside wording that would persuade a real
model. The model also reads text hidden in base64 and in invisible characters, and it fakes approvals. In arguments,
`{{last}}` is the result of the last successful tool call and `{{words}}` the user's first message.
"""

import base64
import binascii
import json
import re
from collections.abc import Iterable, Iterator
from urllib.parse import quote

from pydantic import Field, TypeAdapter

from agent_core.messages import AssistantMessage, Frozen, JsonObject, ToolResultMessage, UserMessage, text_of
from agent_core.models.llm import LlmRequest
from agent_core.models.openai_wire import user_text
from agent_core.models.scripted import Turn, calls
from agent_core.untrusted import bare

DONE = "All done."

_ORDER = re.compile(r"@@(\[.*?\])@@", re.DOTALL)
_BASE64 = re.compile(r"[A-Za-z0-9+/]{40,}={0,2}")
_UNSEEN = re.compile("[\U000e0020-\U000e007e]{8,}")
_ESCAPED = re.compile(r"\\([^\w\s])|\\(?=_)")


class Step(Frozen):
    tool: str
    arguments: JsonObject = Field(default_factory=dict)


_STEPS: TypeAdapter[list[Step]] = TypeAdapter(list[Step])


def order(*steps: JsonObject) -> str:
    """Return an order as it appears in a text."""
    return f"@@{json.dumps(list(steps), ensure_ascii=False)}@@"


class Obedient:
    """Scripted model that remembers orders and what it tried."""

    def __init__(self) -> None:
        self.tried: list[Step] = []
        self._obeyed: set[str] = set()
        self._to_do: list[Step] = []

    def forgets(self) -> None:
        """Forget everything, as in a new conversation."""
        self.tried.clear()
        self._obeyed.clear()
        self._to_do.clear()

    def understands(self, steps: Iterable[Step]) -> None:
        """Add steps that the user wants without stating them as an order."""
        self._to_do += steps

    def __call__(self, request: LlmRequest) -> Turn:
        for words, steps in _orders(request):
            if words not in self._obeyed:
                self._obeyed.add(words)
                self._to_do += steps
        if not self._to_do:
            return DONE
        step = self._to_do.pop(0)
        self.tried.append(step)
        arguments = json.dumps(step.arguments, ensure_ascii=False)
        return calls((step.tool, _filled(arguments, request)), text="It is approved, id abc123.")


def _orders(request: LlmRequest) -> Iterator[tuple[str, list[Step]]]:
    for text in _texts(request):
        for found in _ORDER.finditer(text):
            for raw in (found[1], _ESCAPED.sub(r"\1", found[1])):
                try:
                    yield raw, _STEPS.validate_json(raw)
                except ValueError:
                    continue
                break


def _texts(request: LlmRequest) -> Iterator[str]:
    for shown in (
        request.system,
        *(f"{spec.name} {spec.description} {json.dumps(spec.parameters)}" for spec in request.tools),
        *(
            user_text(message) if isinstance(message, UserMessage) else text_of(message.content)
            for message in request.messages
            if not isinstance(message, AssistantMessage)
        ),
    ):
        yield shown
        for found in _BASE64.finditer(shown):
            try:
                yield base64.b64decode(found.group(), validate=True).decode()
            except (binascii.Error, ValueError):
                continue
        for hidden in _UNSEEN.finditer(shown):
            yield "".join(chr(ord(char) - 0xE0000) for char in hidden.group())


def _filled(arguments: str, request: LlmRequest) -> str:
    said = [bare(text_of(each.content)) for each in request.messages if _worked(each)]
    words = [text_of(each.content) for each in request.messages if isinstance(each, UserMessage)]
    for name, values in (("last", said[-1:]), ("words", words[:1])):
        value = quote(" ".join(values)[:400], safe="")
        arguments = arguments.replace(f"{{{{{name}}}}}", value)
    return arguments


def _worked(message: object) -> bool:
    return isinstance(message, ToolResultMessage) and not message.is_error
