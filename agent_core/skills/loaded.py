"""A loaded skill with the text that it adds to the prompt."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from agent_core.models.tokens import estimate
from agent_core.skills import layout
from agent_core.skills.errors import SkillError, SkillTrouble
from agent_core.skills.header import BadSkill, split
from agent_core.skills.reading import text_of
from agent_core.skills.skill import FILE, Skill
from agent_core.untrusted import harmless

SKILL_TOKENS = 8_000
"""Maximum tokens of one skill's instructions."""


@dataclass(frozen=True)
class Instructions:
    """The instructions of a skill, read at one time."""

    skill: Skill
    block: str
    tokens: int
    offered: tuple[str, ...]
    """Paths that can be loaded as references."""


@dataclass
class LoadedSkill:
    """A skill in a chat's prompt, with its loaded references."""

    now: Instructions
    held: bool = False
    digest: str | None = None
    references: dict[str, str] = field(default_factory=dict)
    """Texts of loaded references by path."""

    @property
    def skill(self) -> Skill:
        return self.now.skill

    @property
    def tokens(self) -> int:
        shown = (layout.reference(self.skill.name, path, text) for path, text in self.references.items())
        return self.now.tokens + sum(map(estimate, shown))


def read_instructions(skill: Skill, read: Callable[[str], bytes] | None = None) -> Instructions:
    """Read a skill's instructions. Its documents are included if they fit, else they are references.

    `read` returns its files if they must not be read from disk. Raises SkillError.
    """
    read = read or skill.read
    try:
        body = harmless(split(read(FILE))[1])
        docs = {name: text_of(read(name)) for name in skill.docs}
    except BadSkill as error:
        raise SkillError(SkillTrouble.UNREADABLE, f"the skill {skill.name}: {error}", "tell the person") from error
    except OSError as error:
        fact = f"the skill {skill.name} cannot be read ({error.strerror})"
        raise SkillError(SkillTrouble.UNREADABLE, fact, "tell the person") from error
    made = _made(skill, body, docs)
    if docs and made.tokens > SKILL_TOKENS:
        made = _made(skill, body, {})
    if made.tokens > SKILL_TOKENS:
        raise SkillError(
            SkillTrouble.OVER_BUDGET,
            f"the skill {skill.name} has {made.tokens} tokens, {SKILL_TOKENS} at most can be loaded",
            "do without it, or let its author move details into references",
        )
    return made


def _made(skill: Skill, body: str, docs: Mapping[str, str]) -> Instructions:
    block = layout.block(skill, body, docs)
    offered = (*skill.references, *(doc for doc in skill.docs if doc not in docs))
    return Instructions(skill, block, estimate(block), offered)


def read_reference(skill: Skill, path: str, read: Callable[[str], bytes] | None = None) -> str:
    """Read a reference; `read` as in `read_instructions`. Raises SkillError."""
    try:
        return text_of((read or skill.read)(path))
    except BadSkill as error:
        fact = f"the reference {path} of {skill.name}: {error}"
    except OSError as error:
        fact = f"the reference {path} of {skill.name} cannot be read ({error.strerror})"
    raise SkillError(SkillTrouble.BAD_REFERENCE, fact, "tell the person")
