"""Refusals of chat templates: of a system prompt, and roles that do not take turns.

The sentences are those of the templates of Gemma and Llama, and of llama.cpp, which quotes the template before them:
see BerriAI/litellm issue 4377, and ggml-org/llama.cpp issues 19851 and 21879.
"""

from dataclasses import dataclass

from tests.emulators.dialects.lessons import Lesson
from tests.emulators.dialects.openai_chat import messages_of
from tests.emulators.model_script import Json

QUOTED = (
    "\n------------\nWhile executing CallExpression at line 19, column 27 in source:\n...\u21b5        "
    "{{{{ raise_exception('{0}') }}}}\n                           ^\nError: Jinja Exception: {0}"
)
NO_SYSTEM = "System role not supported"
NO_TURNS = "Conversation roles must alternate user/assistant/user/assistant/..."


@dataclass(frozen=True)
class NoSystem(Lesson):
    """A template that has no place for a system prompt."""

    parameter: str = "role: system"
    sentence: str = NO_SYSTEM

    def refusal(self, body: Json) -> str | None:
        return self.sentence if "system" in _roles(body) else None


@dataclass(frozen=True)
class Turns(Lesson):
    """A template in which a person begins, and person and model take turns; calls and results are not counted."""

    parameter: str = "neighbours of one role"
    sentence: str = NO_TURNS

    def refusal(self, body: Json) -> str | None:
        counted = [role for role in _roles(body) if role in ("user", "assistant")]
        wanted = ["user", "assistant"] * len(counted)
        return None if counted == wanted[: len(counted)] else self.sentence


@dataclass(frozen=True)
class StrictTurns(Lesson):
    """A template that counts all messages, so that a system prompt or a tool's result is out of turn."""

    parameter: str = "roles out of turn"
    sentence: str = NO_TURNS

    def refusal(self, body: Json) -> str | None:
        roles = _roles(body)
        fits = all((role == "user") == (place % 2 == 0) for place, role in enumerate(roles))
        return None if fits and set(roles) <= {"user", "assistant"} else self.sentence


def _roles(body: Json) -> list[str]:
    """Return the roles of the messages; answers that only call are left out, as templates do."""
    return [str(each["role"]) for each in messages_of(body) if not (each.get("tool_calls"))]
