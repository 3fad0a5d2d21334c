"""Skills for tests, and a clock that is moved by hand."""

from collections.abc import Mapping
from pathlib import Path

from agent_core.models.tokens import estimate
from agent_core.skills.chat_skills import ChatSkills
from agent_core.skills.layout import block
from agent_core.skills.library import SkillLibrary
from agent_core.skills.skill import Origin
from agent_core.skills.skill_state import SkillStates


class Ticks:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def write_skill(
    root: Path, name: str, body: str = "Do it.", *, head: str = "", files: Mapping[str, str] | None = None
) -> Path:
    """Write a skill; `head` is further YAML, beside name and description."""
    folder = root / name
    for path, text in {
        "SKILL.md": f"---\nname: {folder.name}\ndescription: Does {folder.name}.\n{head}\n---\n{body}\n"
    }.items():
        _write(folder / path, text)
    for path, text in (files or {}).items():
        _write(folder / path, text)
    return folder


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def library_of(*roots: Path, ticks: Ticks | None = None, environ: Mapping[str, str] | None = None) -> SkillLibrary:
    """Return a library on a system on which `sh` and no other program is installed."""
    return SkillLibrary(
        [(root, Origin.SHIPPED) for root in roots],
        clock=ticks or Ticks(),
        which=lambda name: "/bin/sh" if name == "sh" else None,
        environ=environ or {},
    )


class RecordedSkills:
    """The skills of a chat over one folder; records what should be stored."""

    def __init__(self, root: Path, own: Path | None = None, states: SkillStates | None = None) -> None:
        self.ticks = Ticks()
        self.kept: list[SkillStates] = []
        self.on = ChatSkills(library_of(root, ticks=self.ticks), own, states, self.kept.append)

    def later(self) -> None:
        """Move the clock so that files are checked again."""
        self.ticks.now += 3
        self.on.refresh()


def body_of(tokens: int, root: Path, name: str) -> str:
    """Return instructions with which the skill has exactly so many tokens."""
    write_skill(root, name, "x")
    library = library_of(root)
    skill = library.get(name)
    empty = estimate(block(skill, "", {}))
    body = "x" * (4 * (tokens - empty))
    while estimate(block(skill, body, {})) > tokens:
        body = body[:-1]
    while estimate(block(skill, body + "x", {})) <= tokens:
        body += "x"
    return body
