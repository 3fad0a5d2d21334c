"""The skills loaded in one chat, kept up to date with their files.

This is the only record of loaded skills: index marks, prompt and stored state derive from it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field

from agent_core.models.tokens import estimate
from agent_core.skills import layout
from agent_core.skills.header import BadSkill, split
from agent_core.skills.library import SkillLibrary
from agent_core.skills.skill import FILE, Origin, Skill, SkillError, SkillTrouble, text_of
from agent_core.skills.skill_state import SkillState, SkillStates
from agent_core.skills.workspace_skills import WorkspaceSkills
from agent_core.untrusted import harmless

SKILL_TOKENS = 8_000
"""Maximum tokens of one skill's instructions."""


class Instructions(Struct, frozen=True):
    """The instructions of a skill, read at one time."""

    skill: Skill
    block: str
    tokens: int
    offered: tuple[str, ...]
    """Paths that can be loaded as references."""


class LoadedSkill(Struct):
    """A skill in a chat's prompt, with its loaded references."""

    now: Instructions
    held: bool = False
    digest: str | None = None
    inherited: bool = False
    references: dict[str, str] = field(default_factory=dict)
    """SkillTexts of loaded references by path."""

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


class SkillTexts(Struct, frozen=True):
    """The parts of a request about skills. A part is empty if it has nothing to say."""

    always: str
    protocol: str
    index: str
    loaded: str
    references: str
    idle_tools: frozenset[str]
    """Tools that no skill has a use for, so that models need not be offered them; a call is answered all the same."""


class LoadedSkills:
    """The loaded skills of a chat, and the parts of the prompt that are made of them whenever they change."""

    def __init__(self, library: SkillLibrary, own: WorkspaceSkills, on_change: Callable[[SkillStates], object]) -> None:
        self.loaded: dict[str, LoadedSkill] = {}
        """In order of loading."""
        self.always: dict[str, LoadedSkill] = {}
        self.notes: dict[str, str] = {}
        """Notices for users about skills that are or were loaded."""
        self._library = library
        self._own = own
        self._on_change = on_change
        self._absent: dict[str, SkillState] = {}
        """Skills held by users that cannot be read at the moment."""
        self._always_now()
        self.texts = self._written()
        """The parts of the request."""

    @property
    def states(self) -> SkillStates:
        kept = [
            SkillState(
                name=name,
                references=tuple(item.references),
                held=item.held,
                inherited=item.inherited,
                digest=item.digest,
            )
            for name, item in (*self.loaded.items(), *self.always.items())
            if name in self.loaded or item.references
        ]
        return SkillStates(skills=(*kept, *self._absent.values()))

    @property
    def tokens(self) -> int:
        return sum(item.tokens for item in self.loaded.values())

    def offered(self) -> list[tuple[Skill, bool]]:
        """Return the skills that a model can load, and the loaded ones, sorted by name; without those that are always
        loaded."""
        known = {
            skill.name: skill
            for skill in self._library.skills
            if not skill.header.disable_model_invocation and not self._library.reason(skill)
        }
        known |= {name: item.skill for name, item in self.loaded.items()}
        return [(skill, name in self.loaded) for name, skill in sorted(known.items()) if name not in self.always]

    def find(self, name: str) -> LoadedSkill | None:
        return self.loaded.get(name) or self.always.get(name)

    def add(self, item: LoadedSkill) -> None:
        self.loaded[item.skill.name] = item
        self._absent.pop(item.skill.name, None)
        self.notes.pop(item.skill.name, None)
        self.changed()

    def remove(self, *names: str) -> None:
        for name in names:
            self.loaded.pop(name, None)
            self.notes.pop(name, None)
        if names:
            self.changed()

    def forget(self, name: str) -> bool:
        """Stop waiting for a held skill that could not be read; returns True if there was one."""
        if self._absent.pop(name, None) is None:
            return False
        self.remove(name)
        return True

    def changed(self) -> None:
        self.texts = self._written()
        self._on_change(self.states)

    def _written(self) -> SkillTexts:
        offered = self.offered()
        present = [*self.always.values(), *self.loaded.values()]
        return SkillTexts(
            always=layout.always(item.now.block for item in self.always.values()),
            protocol=layout.protocol(offers=bool(offered), is_any_loaded=bool(present)),
            index=layout.index(offered),
            loaded=layout.loaded(item.now.block for item in self.loaded.values()),
            references=layout.references(
                {
                    (name, path): text
                    for name, item in (*self.always.items(), *self.loaded.items())
                    for path, text in item.references.items()
                }
            ),
            idle_tools=frozenset(_idle_tools(offered, self.loaded.values(), present)),
        )

    # Files

    def restore(self, states: SkillStates) -> None:
        """Load the skills of an earlier process start; held ones that cannot be read are kept for later."""
        for kept in states.skills:
            self._restore(kept)
        self.texts = self._written()

    def check_own(self) -> None:
        """Unload skills of the chat's own that no longer match what a user approved."""
        changed = [
            name
            for name, item in self.loaded.items()
            if item.digest is not None and self._own.approved(item.skill, item.digest) is None
        ]
        for name in changed:
            self.remove(name)
            self.notes[name] = _changed_since(name)

    def reference(self, item: LoadedSkill, path: str) -> str:
        """Read a reference. Raises SkillError, also if a skill of the chat's own no longer matches what a user
        approved."""
        if item.digest is None:
            return read_reference(item.skill, path)
        said = self._own.approved(item.skill, item.digest)
        if said is None:
            self.check_own()
            name = item.skill.name
            raise SkillError(SkillTrouble.NOT_LOADED, f"the skill {name} was changed, and taken out", "tell the person")
        return read_reference(said.skill, path, said.read)

    def read_again(self, item: LoadedSkill, skill: Skill) -> None:
        """Read a skill again. Raises SkillError, and then leaves the item unchanged."""
        now = read_instructions(skill)
        references = {path: read_reference(skill, path) for path in item.references if path in now.offered}
        item.now, item.references = now, references

    def take_over(self) -> None:
        """Apply changes of the library; what cannot be read keeps its last text."""
        self._always_now()
        for name, item in list(self.loaded.items()):
            if item.digest is None:
                self._update(name, item)
        absent, self._absent = self._absent, {}
        for kept in absent.values():
            self._restore(kept)
        self.texts = self._written()

    def _update(self, name: str, item: LoadedSkill) -> None:
        skill = self._library.find(name)
        if name in self.always:
            self.loaded.pop(name)
        elif skill is not None and not skill.header.enabled:
            self.loaded.pop(name)
            self.notes[name] = f"{name}: it was switched off in its file, and was taken out"
            if item.held:
                self._absent[name] = SkillState(name=name, held=True)
        elif skill is None and item.skill.origin is Origin.INSTALLED:
            self.loaded.pop(name)
            self.notes[name] = f"{name}: it was removed, or changed after a person approved it, and was taken out"
            self._on_change(self.states)
        elif skill is None:
            self.notes[name] = f"{name}: its file is gone or broken; what it said last stays until it is unloaded"
        elif skill != item.skill:
            try:
                self.read_again(item, skill)
                self.notes.pop(name, None)
            except SkillError as error:
                self.notes[name] = f"{name}: what it said last stays loaded: {error}"

    def _always_now(self) -> None:
        before, self.always = self.always, {}
        for skill in self._library.skills:
            if not skill.header.always or self._library.reason(skill):
                continue
            item = before.get(skill.name)
            try:
                if item is None:
                    item = LoadedSkill(read_instructions(skill))
                elif item.skill != skill:
                    self.read_again(item, skill)
                self.notes.pop(skill.name, None)
            except SkillError as error:
                self.notes[skill.name] = f"{skill.name}: {error}"
            if item is not None and self._fits_always(item):
                self.always[skill.name] = item

    def _fits_always(self, item: LoadedSkill) -> bool:
        """Return True if the skill fits: all that are always loaded share the limit of a single skill."""
        if item.now.tokens + sum(other.now.tokens for other in self.always.values()) <= SKILL_TOKENS:
            return True
        self.notes[item.skill.name] = (
            f"{item.skill.name}: there is no room for it among the skills that are always loaded; load it by command"
        )
        return False

    def _restore(self, kept: SkillState) -> None:
        item = self.always.get(kept.name)
        try:
            item = item or self._read(kept)
        except SkillError as error:
            self.notes[kept.name] = f"{kept.name}: {error}"
            if kept.held and kept.digest is None:
                self._absent[kept.name] = kept
            return
        if item is None:
            self.notes[kept.name] = _changed_since(kept.name)
            return
        for path in kept.references:
            if path in item.now.offered:
                self._restore_reference(item, path)
        if kept.name not in self.always:
            self.loaded[kept.name] = item

    def _restore_reference(self, item: LoadedSkill, path: str) -> None:
        try:
            item.references[path] = self.reference(item, path)
        except SkillError as error:
            self.notes[item.skill.name] = f"{item.skill.name}: {error}"

    def _read(self, kept: SkillState) -> LoadedSkill | None:
        """Read a stored skill; None if a skill of the chat's own no longer matches what was approved."""
        if kept.digest is None:
            shared = self._library.get(kept.name)
            if not shared.header.enabled:
                raise SkillError(SkillTrouble.DISABLED, "it is switched off in its file", "it comes back with it")
            return LoadedSkill(read_instructions(shared), kept.held, inherited=kept.inherited)
        skill = self._own.find(kept.name)
        said = self._own.approved(skill, kept.digest) if skill else None
        return LoadedSkill(read_instructions(said.skill, said.read), kept.held, said.digest) if said else None


def _idle_tools(
    offered: Sequence[tuple[Skill, bool]], loaded: Iterable[LoadedSkill], present: Iterable[LoadedSkill]
) -> Iterator[str]:
    """Yield the tools without use. `present` are the loaded skills and those that are always loaded."""
    if len(offered) <= layout.MOST_INDEXED:  # the prompt lists them all
        yield "list_skills"
    if all(is_loaded for _, is_loaded in offered):
        yield "load_skill"
    if all(item.held for item in loaded):
        yield "unload_skill"
    if not any(item.now.offered for item in present):
        yield "load_skill_reference"
    if not any(item.skill.scripts for item in present):
        yield "run_skill_script"


def _changed_since(name: str) -> str:
    return f"{name}: it was changed after a person loaded it, and was taken out; look at it and load it again"
