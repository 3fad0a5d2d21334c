"""The tools with which a model loads and unloads skills; they change only its prompt."""

from collections.abc import Callable

from agent_core.skills import layout
from agent_core.skills.chat_skills import SkillShelf
from agent_core.skills.errors import SkillError
from agent_core.tool_result import ToolResult
from agent_core.tools.tool import Tool, ToolContext, tool

NO_SKILLS = "Error: there are no skills here. Next: go on without them"


@tool(idempotent=True, label="Reading the skill {name}")
async def load_skill(name: str, context: ToolContext) -> ToolResult:
    """Load a skill's instructions into the system prompt."""
    return _answer(context, lambda shelf: shelf.load(name.strip()).text)


@tool(idempotent=True, label="Putting the skill {name} away")
async def unload_skill(name: str, context: ToolContext) -> ToolResult:
    """Remove a skill and its references from the system prompt."""
    return _answer(context, lambda shelf: shelf.unload(name.strip()))


@tool(idempotent=True, label="Reading {reference} of the skill {skill}")
async def load_skill_reference(skill: str, reference: str, context: ToolContext) -> ToolResult:
    """Load a reference of a loaded skill into the system prompt."""
    return _answer(context, lambda shelf: shelf.load_reference(skill.strip(), reference.strip()).text)


@tool(idempotent=True, label="Looking at the skills")
async def list_skills(context: ToolContext, search: str = "") -> ToolResult:
    """List skills, or those that match words or a tag."""

    def listed(shelf: SkillShelf) -> str:
        found = shelf.offered(search)
        return "\n".join(layout.index_line(skill, is_loaded=loaded) for skill, loaded in found) or "(no skill fits)"

    return _answer(context, listed)


_TOOLS: tuple[Tool, ...] = (list_skills, load_skill, load_skill_reference, unload_skill)


def skill_tools(shelf: SkillShelf) -> tuple[Tool, ...]:
    """Return the skill tools; empty if there is no skill."""
    return () if shelf.is_empty else _TOOLS


def _answer(context: ToolContext, ask: Callable[[SkillShelf], str]) -> ToolResult:
    """Return the answer or the error, not shortened to one line, because it may list all skills."""
    if context.skills is None:
        return ToolResult.of(NO_SKILLS, is_error=True)
    try:
        return ToolResult.of(ask(context.skills))
    except SkillError as error:
        return ToolResult.of(f"Error: {error.fact}. Next: {error.advice}", is_error=True)
