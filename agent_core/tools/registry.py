"""The registry of the tools that a model may call."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from agent_core.models.llm import ToolSpec
from agent_core.origin import Origin, joined
from agent_core.skills.skill import SKILL_TOOLS
from agent_core.tools.finding import FIND, MOST, find_tools_tool, spec_of
from agent_core.tools.tool import Tool, ToolFailed


class UnknownTool(ToolFailed):
    """The model called a tool that does not exist."""


class ToolRegistry:
    """The tools of one agent, sorted by name, so that the prompt prefix stays the same and cacheable.

    `others` returns tools that come and go at run time; it is called each time. They follow the fixed tools and cannot
    take their names. `skills` are the tools of the skill system, whose names are reserved; they are there while
    `has_skills`. Tools for files are offered once the workspace `has_files`, and from then on. Each of `described_by`
    returns the origin of words that describe some of the tools.

    If there are more than `MOST` tools, those that come and go are offered once they were found with `find_tools`.
    """

    def __init__(
        self,
        tools: Iterable[Tool] = (),
        others: Callable[[], Iterable[Tool]] = tuple,
        skills: Sequence[Tool] = (),
        has_skills: Callable[[], bool] = bool,
        described_by: Sequence[Callable[[], Origin]] = (),
        has_files: Callable[[], bool] | None = None,
    ) -> None:
        """`has_files`: None if tools for files are always offered."""
        self._tools: dict[str, Tool] = {}
        self._others = others
        self._skills = skills
        self._has_skills = has_skills
        self._described_by = described_by
        self._has_files = has_files
        self._called: dict[str, Tool] = {}
        self._search = find_tools_tool(self._coming_and_going, self.origin)
        self._specs: tuple[ToolSpec, ...] | None = None
        """Those of the fixed tools, once somebody asked for them."""
        for item in tools:
            self.add(item)

    @property
    def taken(self) -> frozenset[str]:
        """Return the names that `others` cannot use."""
        return SKILL_TOOLS | self._tools.keys() | {FIND}

    def add(self, item: Tool) -> None:
        """Add a tool. Raises ValueError if the name is taken or reserved."""
        if item.name in SKILL_TOOLS:
            raise ValueError(f"the tool name {item.name} belongs to the skill system")
        if item.name == FIND:
            raise ValueError(f"the tool name {FIND} is reserved")
        if item.name in self._tools:
            raise ValueError(f"there are two tools named {item.name}")
        self._tools = dict(sorted((self._tools | {item.name: item}).items()))
        self._specs = None

    def get(self, name: str) -> Tool:
        """Return the tool. One that was called stays available, because its call may still be running when it is
        removed.

        Raises UnknownTool, which lists the available tools.
        """
        if name in self._tools:
            return self._tools[name]
        of_skills = {item.name: item for item in self._skills} if self._has_skills() else {}
        others = of_skills | self._coming_and_going() | {FIND: self._search}
        if name in others:
            self._called[name] = others[name]
        if name not in self._called:
            raise UnknownTool(f"there is no tool {name[:60]!r}", self._advice([*of_skills]))
        return self._called[name]

    def may_repeat(self, name: str) -> bool:
        """Return True if a call may be repeated when it is unknown whether it ran; an unknown tool never runs."""
        try:
            return self.get(name).idempotent
        except UnknownTool:
            return True

    def specs(self, found: Callable[[], Iterable[str]] = tuple) -> tuple[ToolSpec, ...]:
        """Return the tools as the model sees them: the fixed ones, those of skills, and those that come and go.

        Where those are too many, `find_tools` stands in their place, and behind it those that `found` returns.
        """
        if self._has_files is not None and self._has_files():
            self._has_files = self._specs = None
        if self._specs is None:
            all_of_them = self._has_files is None
            self._specs = tuple(item.spec for item in self._tools.values() if all_of_them or not item.for_files)
        ours, others = self._specs, self._coming_and_going()
        if self._has_skills():
            ours = (*ours, *[item.spec for item in self._skills])
        if not others:
            return ours
        if not self._are_too_many(others):
            return (*ours, *(others[name].spec for name in sorted(others)))
        search = spec_of(self._search, others.values())
        return (*ours, search, *(others[name].spec for name in found() if name in others))

    def origin(self) -> Origin:
        """Return the origin of what describes the tools."""
        return joined(origin() for origin in self._described_by)

    def leave_out(self, name: str) -> bool:
        """Stop offering a tool that comes and goes, see `Tool.leave_out`."""
        others = self._coming_and_going()
        return name in others and others[name].leave_out()

    def replaced(self, tools: Iterable[Tool]) -> "ToolRegistry":
        """Return a registry with these tools and the same skill tools. Raises ValueError as `add` does."""
        skills, has_skills, described_by = self._skills, self._has_skills, self._described_by
        return ToolRegistry(tools, tuple, skills, has_skills, described_by, self._has_files)

    def _are_too_many(self, others: Mapping[str, Tool]) -> bool:
        """Return True if not all tools are offered. Those for files and skills count, whether they are offered or not,
        so that a file or a skill changes nothing."""
        return bool(others) and len(self._tools) + len(self._skills) + len(others) > MOST

    def _advice(self, of_skills: Iterable[str]) -> str:
        others = self._coming_and_going()
        if self._are_too_many(others):
            return f"find one with {FIND}, or use one of: {', '.join(sorted([*self._tools, *of_skills]))}"
        return f"use one of: {', '.join(sorted([*self._tools, *of_skills, *others]))}"

    def _coming_and_going(self) -> dict[str, Tool]:
        taken = self.taken
        return {item.name: item for item in self._others() if item.name not in taken}
