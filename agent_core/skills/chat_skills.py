"""The skills of one chat: loads and unloads them, and provides their parts of the prompt."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from agent_core.messages import AgentMessage
from agent_core.models.tokens import estimate
from agent_core.origin import CLEAN
from agent_core.origin import Origin as TextOrigin
from agent_core.skills import layout
from agent_core.skills.library import LOOK_EVERY, SkillLibrary, fits
from agent_core.skills.loaded_skills import Instructions, LoadedSkill, LoadedSkills, SkillTexts, read_instructions
from agent_core.skills.skill import FILE, Origin, Skill, SkillError, SkillTrouble
from agent_core.skills.skill_state import SkillStates
from agent_core.skills.token_budget import TokenBudget, recent_words
from agent_core.skills.workspace_skills import FOLDER, WorkspaceSkills
from agent_core.workspace.provenance import FileSources

UNLIMITED = TokenBudget()
_NO_ROOM = "unload a skill that is not needed any more, or go on without it"


class SkillEntry(Struct, frozen=True):
    name: str
    description: str
    origin: Origin
    tags: tuple[str, ...] = ()
    loaded: bool = False
    held: bool = False
    """Loaded by a user, so that only users can unload it."""
    always: bool = False
    """Part of the prompt in every chat, without being loaded."""
    only_people: bool = False
    """A model cannot load it."""
    reason: str = ""
    """Why it cannot be loaded here, in a few words; empty if it can."""
    tokens: int = 0
    """Tokens of its loaded parts."""
    references: tuple[str, ...] = ()
    """Loaded references."""


class Added(Struct, frozen=True):
    """The result of loading."""

    text: str
    """For the model or user who asked."""
    changed: bool = False
    again: bool = False
    """True if older messages must be compacted first; the caller may try again."""


def to_nobody(_: SkillStates) -> None:
    """Ignore changes."""


class ChatSkills:
    """The skills of one chat."""

    def __init__(
        self,
        library: SkillLibrary | None = None,
        own: Path | None = None,
        states: SkillStates | None = None,
        on_change: Callable[[SkillStates], object] = to_nobody,
    ) -> None:
        """Create the skills of a chat.

        Args:
            own: Folder of the chat's own skills.
            states: Skills loaded when the program last stopped.
            on_change: Called with the loaded skills after each change.
        """
        self.library = library or SkillLibrary()
        self.tokens_wanted = 0
        """Tokens of a reference that did not fit. The conversation is then compacted before the next request, which
        resets this to 0."""
        self._own = WorkspaceSkills(own, self.library.find)
        self._in = LoadedSkills(self.library, self._own, on_change)
        self._fresh: set[str] = set()
        """Skills loaded in this run."""
        self._asked: set[tuple[str, str]] = set()
        """References for which a compaction was requested in this run."""
        self._generation = self.library.generation
        self._checked = self.library.clock()
        if states is not None:
            self._in.restore(states)

    @property
    def texts(self) -> SkillTexts:
        """Return the parts of the request; the same bytes until something changes."""
        return self._in.texts

    # Queries

    def has_any(self) -> bool:
        """Return True if there is a skill."""
        return bool(self.texts.protocol)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the loaded skills in order of loading, without those that are always loaded."""
        return tuple(self._in.loaded)

    def origin(self, files: FileSources) -> TextOrigin:
        """Return the origin of what the prompt may hold of the chat's own skills, whose files are in its workspace."""
        own = [item.skill for item in self._in.loaded.values() if not item.skill.is_shared]
        texts = [f"{FOLDER}/{each.name}/{path}" for each in own for path in (FILE, *each.docs, *each.references)]
        return files.of(texts) if texts else CLEAN

    @property
    def states(self) -> SkillStates:
        """Return the state to be stored."""
        return self._in.states

    @property
    def problems(self) -> tuple[str, ...]:
        """Return problems for the users of this chat, one line each; `entries` updates them."""
        return (*self._in.notes.values(), *map(str, self._own.diagnostics))

    def entries(self, text: str = "") -> tuple[SkillEntry, ...]:
        """Return all skills, also those that cannot be loaded here, with the reason; checked now."""
        self.refresh(now=True)
        known = {skill.name: skill for skill in (*self.library.skills, *self._own.scan())}
        known |= {name: item.skill for name, item in (*self._in.always.items(), *self._in.loaded.items())}
        return tuple(self._entry(skill) for _, skill in sorted(known.items()) if fits(skill, text))

    def offered(self, text: str = "") -> tuple[tuple[Skill, bool], ...]:
        """Return the skills that a model can load or has loaded, with True if loaded, sorted by name."""
        return tuple((skill, is_loaded) for skill, is_loaded in self._in.offered() if fits(skill, text))

    def opened(self, name: str) -> Skill:
        """Return a skill whose scripts may be run: loaded, and unchanged since. Raises SkillError."""
        self._in.check_own()
        if self.library.refused(self._found(name).skill):
            self.refresh(now=True)
        skill = self._found(name).skill
        if refused := self.library.refused(skill):
            fact = f"the skill {name} cannot be used: {refused.partition(';')[0]}"
            raise SkillError(SkillTrouble.NOT_LOADED, fact, "tell the person")
        return skill

    @property
    def inherited(self) -> frozenset[str]:
        """Return the skills that are loaded because a wider level keeps them loaded."""
        return frozenset(name for name, item in self._in.loaded.items() if item.inherited)

    # Changes

    def inherit(self, names: frozenset[str], budget: TokenBudget = UNLIMITED) -> None:
        """Load the shared skills that a wider level keeps loaded, and unload those that it no longer does."""
        self._in.remove(*(self.inherited - names))
        for name in sorted(names - set(self._in.loaded) - set(self._in.always)):
            with suppress(SkillError):  # such as no room; it is tried again with the next run
                self.load(name, held=True, inherited=True, budget=budget)

    def begin_run(self) -> None:
        """Start a run: skills loaded from now on count as in use until its end."""
        self._fresh.clear()
        self._asked.clear()
        self.tokens_wanted = 0

    def refresh(self, *, now: bool = False) -> None:
        """Check files for changes, at most once every two seconds unless `now`. The prompt is built from memory."""
        self.library.refresh(now=now)
        if self._generation != self.library.generation:
            self._generation = self.library.generation
            self._in.take_over()
        time = self.library.clock()
        if self._in.loaded and (now or time - self._checked >= LOOK_EVERY):
            self._checked = time
            self._in.check_own()

    def load(self, name: str, *, held: bool = False, inherited: bool = False, budget: TokenBudget = UNLIMITED) -> Added:
        """Load a skill's instructions into the prompt. Raises SkillError.

        `held` loads it for a user: it may be one that models cannot load, and only users can unload it. `inherited`
        loads it for a wider level, where nobody has seen the skills of this chat's own.
        """
        self.refresh(now=held)
        if name in self._in.always:
            return Added(f"Skill '{name}' is always loaded.")
        if name in self._in.loaded:
            return self._hold(name, held=held)
        skill = self._choose(name, by_person=held, may_be_own=held and not inherited)
        said = None if skill.is_shared else self._own.approve(skill)
        instructions = read_instructions(said.skill, said.read) if said else read_instructions(skill)
        self._make_room(instructions.tokens, name, budget)
        self._fresh.add(name)
        self._in.add(LoadedSkill(instructions, held, said.digest if said else None, inherited))
        return Added(_welcome(instructions, self.names), changed=True)

    def unload(self, name: str, *, by_person: bool = False) -> str:
        """Unload a skill with its references. Raises SkillError."""
        if by_person and self._in.forget(name):
            return f"Skill '{name}' unloaded."
        item = self._found(name)
        if name in self._in.always:
            raise SkillError(SkillTrouble.HELD, f"the skill {name} is always loaded", "leave it")
        if item.held and not by_person:
            raise SkillError(SkillTrouble.HELD, f"a person keeps the skill {name} loaded", "leave it")
        self._in.remove(name)
        return f"Skill '{name}' unloaded, with its references. Loaded: {', '.join(self.names) or 'none'}."

    def reload(self, name: str, budget: TokenBudget = UNLIMITED) -> Added:
        """Reload a skill and its references for a user; a changed skill of the chat's own is thereby approved again.
        Raises SkillError, and then leaves the loaded one."""
        self.refresh(now=True)
        item = self._in.loaded.get(name)
        if item is None:
            return self.load(name, held=True, budget=budget)
        if item.digest is None:
            self._in.read_again(item, self.library.get(name))
            self._in.notes.pop(name, None)
            self._in.changed()
        return Added(f"Skill '{name}' reloaded.", changed=True)

    def load_reference(self, name: str, path: str, budget: TokenBudget = UNLIMITED) -> Added:
        """Load a reference of a loaded skill into the prompt. Raises SkillError."""
        self.refresh()
        item = self._found(name)
        path = _listed(item.now, path)
        if path in item.references:
            return Added(f"Reference '{path}' of skill '{name}' is already loaded.")
        text = self._in.reference(item, path)
        tokens = estimate(layout.reference(name, path, text))
        self._fresh.add(name)  # or else the skill itself might be unloaded
        if not self._has_room_for(name, path, tokens, budget):
            return Added(
                f"There is no room for '{path}' yet ({tokens} tokens). Older messages are shortened now: call "
                "load_skill_reference once more.",
                again=True,
            )
        item.references[path] = text
        self._in.changed()
        read = f"Reference '{path}' of skill '{name}' loaded ({tokens} tokens): read it in the system prompt."
        return Added(read, changed=True)

    def unload_unused(self, messages: Sequence[AgentMessage]) -> tuple[str, ...]:
        """Unload skills that recent messages do not mention; returns their names."""
        words = recent_words(messages)
        unused = tuple(name for name, item in self._in.loaded.items() if not self._is_used(item, words))
        self._in.remove(*unused)
        return unused

    def new_conversation(self) -> None:
        """Unload all skills except those held by users."""
        self.begin_run()
        for item in self._in.always.values():
            item.references.clear()
        for item in self._in.loaded.values():
            item.references.clear()
        self._in.remove(*(name for name, item in self._in.loaded.items() if not item.held))
        self._in.changed()

    # Internals

    def _found(self, name: str) -> LoadedSkill:
        item = self._in.find(name)
        if item is None:
            if self.library.find(name) is None:
                raise self._unknown(name)
            fact = f"the skill {name} is not loaded"
            raise SkillError(SkillTrouble.NOT_LOADED, fact, "load it with load_skill first")
        return item

    def _unknown(self, name: str) -> SkillError:
        names = ", ".join(skill.name for skill, _ in self._in.offered())
        return SkillError(SkillTrouble.NOT_FOUND, f"there is no skill {name[:80]!r}", f"use one of: {names or 'none'}")

    def _choose(self, name: str, *, by_person: bool, may_be_own: bool) -> Skill:
        """Return the skill of that name. One of the chat's own is loaded only for users in this chat."""
        skill = self.library.find(name) or (self._own.find(name) if may_be_own else None)
        if skill is None:
            raise self._unknown(name)
        if skill.header.disable_model_invocation and not by_person:
            raise SkillError(SkillTrouble.DISABLED, f"only people can load the skill {name}", "go on without it")
        if reason := self.library.missing(skill):
            code = SkillTrouble.MISSING_REQUIREMENT if skill.header.enabled else SkillTrouble.DISABLED
            raise SkillError(code, f"the skill {name} {reason}", "go on without it, or tell the person")
        return skill

    def _hold(self, name: str, *, held: bool) -> Added:
        item = self._in.loaded[name]
        if held and (item.inherited or not item.held):
            item.held, item.inherited = True, False
            self._in.changed()
            return Added(f"Skill '{name}' is already loaded, and stays loaded now.", changed=True)
        return Added(f"Skill '{name}' is already loaded.")

    def _make_room(self, tokens: int, name: str, budget: TokenBudget) -> None:
        if lacking := self._still_lacking(tokens, budget):
            raise SkillError(
                SkillTrouble.NO_ROOM,
                f"there is no room for the skill {name}: it has {tokens} tokens, {lacking} too many",
                _NO_ROOM,
            )

    def _has_room_for(self, name: str, path: str, tokens: int, budget: TokenBudget) -> bool:
        """Return True if the reference fits; the first failure requests a compaction, the second raises SkillError."""
        lacking = self._still_lacking(tokens, budget)
        if not lacking:
            return True
        if (name, path) in self._asked or not budget.could_hold(tokens):
            fact = f"there is no room for {path}: it has {tokens} tokens, {lacking} too many"
            raise SkillError(SkillTrouble.NO_ROOM, fact, _NO_ROOM)
        self._asked.add((name, path))
        self.tokens_wanted = max(self.tokens_wanted, tokens)
        return False

    def _still_lacking(self, tokens: int, budget: TokenBudget) -> int:
        """Return by how many tokens the limit is still exceeded after unloading unused skills."""
        lacking = budget.lacks(tokens)
        if not lacking:
            return 0
        before = self._in.tokens
        self.unload_unused(budget.messages)
        return budget.lacks(tokens - (before - self._in.tokens))

    def _is_used(self, item: LoadedSkill, words: str) -> bool:
        skill = item.skill
        traces = (skill.name, str(skill.folder).lower(), *map(str.lower, skill.scripts))
        return item.held or skill.name in self._fresh or any(trace in words for trace in traces)

    def _entry(self, skill: Skill) -> SkillEntry:
        item = self._in.find(skill.name)
        return SkillEntry(
            name=skill.name,
            description=skill.description,
            origin=skill.origin,
            tags=skill.header.tags,
            loaded=item is not None,
            held=item is not None and item.held,
            always=skill.name in self._in.always,
            only_people=skill.header.disable_model_invocation or not skill.is_shared,
            reason=self.library.missing(skill),
            tokens=item.tokens if item else 0,
            references=tuple(item.references) if item else (),
        )


def _welcome(made: Instructions, names: Sequence[str]) -> str:
    """Return the answer to a successful load."""
    lines = [f"Skill '{made.skill.name}' loaded successfully ({made.tokens} tokens): follow it in the system prompt."]
    if made.offered:
        lines.append(f"References: {', '.join(made.offered)}.")
    lines.append(f"Loaded: {', '.join(names)}.")
    return " ".join(lines)


def _listed(made: Instructions, path: str) -> str:
    """Return the path as listed by the skill; unlisted paths are never read. Raises SkillError."""
    if path in made.offered:
        return path
    named = [offered for offered in made.offered if offered.rpartition("/")[2] == path]
    if len(named) == 1:
        return named[0]
    has = ", ".join(made.offered) or "none"
    fact = f"the skill {made.skill.name} has no reference {path[:80]!r}"
    raise SkillError(SkillTrouble.BAD_REFERENCE, fact, f"it has: {has}")
