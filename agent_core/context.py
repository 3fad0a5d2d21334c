"""What the model is shown: the prompt, the history as its border can take it, and the tools, anew each turn (D-02)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import assert_never

from agent_core.llm import LlmRequest
from agent_core.messages import (
    AgentMessage,
    AssistantMessage,
    CustomMessage,
    LlmMessage,
    NotificationMessage,
    StopReason,
    SummaryMessage,
    TextContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from agent_core.persona import Persona
from agent_core.prompt import SystemPrompt
from agent_core.skills.shelf import SkillShelf
from agent_core.state import QueryState
from agent_core.tokens import conversation_tokens
from agent_core.tools import ToolRegistry
from agent_core.untrusted import passed_on, shown

NO_RESULT = "No result provided"
STOPPED = "[The person stopped this answer.]"


class ContextManager:
    """Builds each request from the state of the run and from what the agent can do now."""

    def __init__(
        self,
        tools: ToolRegistry,
        persona: Persona | None = None,
        workspace: str = "",
        skills: SkillShelf | None = None,
    ) -> None:
        self.tools = tools
        self.skills = skills or SkillShelf()
        self.persona = persona or Persona()
        self.workspace = workspace
        self.system_prompt: str | None = None
        """Replaces the built prompt where a caller sets one (S4-41)."""

    def build_request(self, state: QueryState, *, with_tools: bool = True) -> LlmRequest:
        """The next request; the same state gives the same bytes (S0-08)."""
        return LlmRequest(
            system=self._prompt(),
            messages=repair(convert_to_llm(state.messages)),
            tools=self.tools.specs() if with_tools else (),
            tool_choice="auto" if with_tools else "none",
        )

    def tokens(self, state: QueryState) -> int:
        """About how many tokens the next request holds."""
        tools = "".join(spec.model_dump_json() for spec in self.tools.specs())
        return conversation_tokens(f"{self._prompt()}{tools}", state.messages)

    def _prompt(self) -> str:
        return self._system().render() if self.system_prompt is None else self.system_prompt

    def _system(self) -> SystemPrompt:
        names = "\n".join(f"- {spec.name}: {_first_line(spec.description)}" for spec in self.tools.specs())
        return SystemPrompt(
            identity=self.persona.render(),
            workspace=f"# Workspace\nFiles of this chat: {self.workspace} (give relative paths)"
            if self.workspace
            else "",
            tools=f"# Available tools\n{names}" if names else "",
            always_skills=self.skills.always,
            skill_protocol=self.skills.protocol,
            skills_index=self.skills.index,
            loaded_skills=self.skills.loaded,
            loaded_references=self.skills.references,
        )


def convert_to_llm(messages: Iterable[AgentMessage]) -> list[LlmMessage]:
    """What of the history a model may see (S4-03): people, the model, tool results, and what stands for them.

    This is the one place where what strangers may have written is marked as such."""
    kept: list[LlmMessage] = []
    for message in messages:
        match message:
            case UserMessage() | ToolResultMessage():
                kept.append(shown(message))
            case AssistantMessage():
                kept.append(message)
            case SummaryMessage():
                if message.summary:
                    kept.append(_as_user(message, f"<summary>\n{message.summary}\n</summary>"))
            case NotificationMessage():
                if message.to_model:
                    kept.append(_as_user(message, f"<notification>\n{passed_on(message)}\n</notification>"))
            case CustomMessage():
                pass
            case _:
                assert_never(message)
    return kept


def repair(messages: Sequence[LlmMessage]) -> tuple[LlmMessage, ...]:
    """Make the history acceptable to every provider (U-16).

    Failed answers are left out; of a stopped one the words are left out, but not that it was stopped, else the model
    would answer the question before it again (C-17). Each tool call is followed by its one result, in the order of
    the calls, invented where it is missing; a result without its call is dropped.
    """
    results: dict[str, ToolResultMessage] = {}
    repaired: list[LlmMessage] = []
    for message in reversed(messages):
        match message:
            case UserMessage():
                repaired.append(message)
            case AssistantMessage():
                if message.stop_reason is StopReason.ABORTED:
                    repaired.append(message.model_copy(update={"content": (TextContent(text=STOPPED),)}))
                elif message.stop_reason is not StopReason.ERROR and message.content:
                    repaired.extend(reversed([_result(message, call, results) for call in message.tool_calls]))
                    repaired.append(message)
                results = {}
            case ToolResultMessage():
                results[message.tool_call_id] = message
            case _:
                assert_never(message)
    repaired.reverse()
    return tuple(repaired)


def _first_line(text: str) -> str:
    return text.partition("\n")[0]


def _result(answer: AssistantMessage, call: ToolCall, results: Mapping[str, ToolResultMessage]) -> ToolResultMessage:
    """The result that came before the next answer, for ids may come again later."""
    return results.get(call.id) or ToolResultMessage(
        id=f"{answer.id}-{call.id}",
        created_at=answer.created_at,
        tool_call_id=call.id,
        tool_name=call.name,
        content=(TextContent(text=NO_RESULT),),
        is_error=True,
    )


def _as_user(message: SummaryMessage | NotificationMessage, text: str) -> UserMessage:
    return UserMessage(id=message.id, created_at=message.created_at, content=(TextContent(text=text),))
