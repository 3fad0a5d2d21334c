"""The skills of one chat: which are loaded, with which references, and what the prompt says of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from agent_core.messages import AgentMessage
from agent_core.skills import layout
from agent_core.skills.entry import SkillEntry
from agent_core.skills.errors import SkillError, SkillTrouble
from agent_core.skills.library import SkillLibrary, fits
from agent_core.skills.loaded import Instructions, LoadedSkill, read_instructions
from agent_core.skills.loaded_skills import LoadedSkills
from agent_core.skills.own import OwnSkills
from agent_core.skills.room import Measure, Room, everything_fits, recent_words
from agent_core.skills.shelved import Shelved
from agent_core.skills.skill import Skill
from agent_core.tokens import estimate

_NO_ROOM = "unload a skill that is not needed any more, or go on without it"


@dataclass(frozen=True)
class Added:
    """What came of a load."""

    text: str
    """For whoever asked."""
    changed: bool = False
    again: bool = False
    """Not yet: older messages are shortened first; ask once more."""


def to_nobody(_: Shelved) -> None:
    """Where nothing is written down."""


class SkillShelf:
    """One per chat. Each part of the prompt is empty where there is nothing to say."""

    def __init__(
        self,
        library: SkillLibrary | None = None,
        own: Path | None = None,
        shelved: Shelved | None = None,
        on_change: Callable[[Shelved], object] = to_nobody,
    ) -> None:
        """`own`: where the chat's own skills lie. `shelved`: what was loaded in an earlier life. `on_change` hears what
        is loaded whenever that changes."""
        self.library = library or SkillLibrary()
        self.measure: Measure = everything_fits
        """Whoever knows the conversation says here how much room there is."""
        self.wants_room = 0
        """Tokens of a reference that found no room: the conversation is to be shortened before the next request, and
        whoever does it sets this to 0."""
        self._own = OwnSkills(own, self.library.find)
        self._in = LoadedSkills(self.library, self._own, on_change)
        self._fresh: set[str] = set()
        """Loaded in this run."""
        self._asked: set[tuple[str, str]] = set()
        """References for which room was asked for in this run."""
        if shelved is not None:
            self._in.restore(shelved)

    # What the prompt says

    @property
    def always(self) -> str:
        """Skills that are in the prompt without being loaded (S2-12)."""
        return self._in.texts.always

    @property
    def protocol(self) -> str:
        """How to load and unload (S0-04)."""
        return self._in.texts.protocol

    @property
    def index(self) -> str:
        """One line a skill, with its mark (S1-02)."""
        return self._in.texts.index

    @property
    def loaded(self) -> str:
        """Instructions of what is loaded (S1-07)."""
        return self._in.texts.loaded

    @property
    def references(self) -> str:
        """References that are loaded (S1-20)."""
        return self._in.texts.references

    # What others ask

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing here that a model could load, read or unload."""
        return not self._in.texts.protocol

    @property
    def names(self) -> tuple[str, ...]:
        """What is loaded, in the order of loading; `always` ones are not among them."""
        return tuple(self._in.loaded)

    @property
    def shelved(self) -> Shelved:
        """What is to be written down."""
        return self._in.shelved

    @property
    def problems(self) -> tuple[str, ...]:
        """What people should put right in this chat, a line each; `entries` looks anew."""
        return (*self._in.notes.values(), *map(str, self._own.diagnostics))

    def entries(self, text: str = "") -> tuple[SkillEntry, ...]:
        """All skills that a person may load here, and those that cannot be and why; looked up now."""
        self.refresh(now=True)
        known = {skill.name: skill for skill in (*self.library.skills, *self._own.scan())}
        known |= {name: item.skill for name, item in (*self._in.always.items(), *self._in.loaded.items())}
        return tuple(self._entry(skill) for _, skill in sorted(known.items()) if fits(skill, text))

    def offered(self, text: str = "") -> tuple[tuple[Skill, bool], ...]:
        """What a model can load or has loaded, with whether it has; by name."""
        return tuple((skill, is_loaded) for skill, is_loaded in self._in.offered() if fits(skill, text))

    def opened(self, name: str) -> Skill:
        """A skill whose scripts may be run now: it is loaded, and says what it said then. Raises SkillError."""
        self._in.check_own()
        return self._found(name).skill

    # Changes

    def begin_run(self) -> None:
        """A run begins: what is loaded from now on is in use until its end (C-14)."""
        self._fresh.clear()
        self._asked.clear()
        self.wants_room = 0

    def refresh(self, *, now: bool = False) -> None:
        """See what has changed in the files, at most once every two seconds unless `now`. What the prompt says is read
        from memory."""
        self._in.refresh(now=now)

    def load(self, name: str, *, held: bool = False, room: Room | None = None) -> Added:
        """Put a skill's instructions into the prompt. `held`: a person asks for it, so that it stays until a person
        unloads it, and may be one that no model can load. Raises SkillError."""
        self.refresh(now=held)
        if name in self._in.always:
            return Added(f"Skill '{name}' is always loaded.")
        if name in self._in.loaded:
            return self._hold(name, held=held)
        skill = self._choose(name, by_person=held)
        said = None if skill.is_shared else self._own.approve(skill)
        instructions = read_instructions(said.skill, said.read) if said else read_instructions(skill)
        self._make_room(instructions.tokens, name, room or self.measure())
        self._fresh.add(name)
        self._in.add(LoadedSkill(instructions, held, said.digest if said else None))
        return Added(_welcome(instructions, self.names), changed=True)

    def unload(self, name: str, *, by_person: bool = False) -> str:
        """Take a skill out with all its references (S1-23). Raises SkillError."""
        if by_person and self._in.forget(name):
            return f"Skill '{name}' unloaded."
        item = self._found(name)
        if name in self._in.always:
            raise SkillError(SkillTrouble.HELD, f"the skill {name} is always loaded", "leave it")
        if item.held and not by_person:
            raise SkillError(SkillTrouble.HELD, f"a person keeps the skill {name} loaded", "leave it")
        self._in.remove(name)
        return f"Skill '{name}' unloaded, with its references. Loaded: {', '.join(self.names) or 'none'}."

    def reload(self, name: str) -> Added:
        """For a person: read a skill and its references again; one of the chat's own that has changed is approved anew.
        Raises SkillError, and leaves what was loaded."""
        self.refresh(now=True)
        item = self._in.loaded.get(name)
        if item is None:
            return self.load(name, held=True)
        if item.digest is None:
            self._in.read_again(item, self.library.get(name))
            self._in.notes.pop(name, None)
            self._in.changed()
        return Added(f"Skill '{name}' reloaded.", changed=True)

    def load_reference(self, name: str, path: str, *, room: Room | None = None) -> Added:
        """Put one of a loaded skill's references into the prompt (S1-16). Raises SkillError."""
        self.refresh()
        item = self._found(name)
        path = _listed(item.now, path)
        if path in item.references:
            return Added(f"Reference '{path}' of skill '{name}' is already loaded.")
        text = self._in.reference(item, path)
        tokens = estimate(layout.reference(name, path, text))
        self._fresh.add(name)  # else the skill itself might have to make room
        if not self._has_room_for(name, path, tokens, room or self.measure()):
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
        """Take out what the conversation does not speak of any more (C-14); the names."""
        words = recent_words(messages)
        unused = tuple(name for name, item in self._in.loaded.items() if not self._is_used(item, words))
        self._in.remove(*unused)
        return unused

    def new_conversation(self) -> None:
        """Only what people hold stays."""
        self.begin_run()
        for item in self._in.always.values():
            item.references.clear()
        for item in self._in.loaded.values():
            item.references.clear()
        self._in.remove(*(name for name, item in self._in.loaded.items() if not item.held))
        self._in.changed()

    # How it works

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

    def _choose(self, name: str, *, by_person: bool) -> Skill:
        """The skill of that name; one of the chat's own for people only."""
        skill = self.library.find(name) or (self._own.find(name) if by_person else None)
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
        if held and not item.held:
            item.held = True
            self._in.changed()
            return Added(f"Skill '{name}' is already loaded, and stays loaded now.", changed=True)
        return Added(f"Skill '{name}' is already loaded.")

    def _make_room(self, tokens: int, name: str, room: Room) -> None:
        if lacking := self._still_lacking(tokens, room):
            raise SkillError(
                SkillTrouble.NO_ROOM,
                f"there is no room for the skill {name}: it has {tokens} tokens, {lacking} too many",
                _NO_ROOM,
            )

    def _has_room_for(self, name: str, path: str, tokens: int, room: Room) -> bool:
        """Asks once for the conversation to be shortened (S1-19). Raises SkillError where that was in vain."""
        lacking = self._still_lacking(tokens, room)
        if not lacking:
            return True
        if (name, path) in self._asked or not room.could_hold(tokens):
            fact = f"there is no room for {path}: it has {tokens} tokens, {lacking} too many"
            raise SkillError(SkillTrouble.NO_ROOM, fact, _NO_ROOM)
        self._asked.add((name, path))
        self.wants_room = max(self.wants_room, tokens)
        return False

    def _still_lacking(self, tokens: int, room: Room) -> int:
        """How many tokens too many, after skills that nobody uses were unloaded for it."""
        lacking = room.lacks(tokens)
        if not lacking:
            return 0
        before = self._in.tokens
        self.unload_unused(room.messages)
        return room.lacks(tokens - (before - self._in.tokens))

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
    """S1-14."""
    lines = [f"Skill '{made.skill.name}' loaded successfully ({made.tokens} tokens): follow it in the system prompt."]
    if made.offered:
        lines.append(f"References: {', '.join(made.offered)}.")
    lines.append(f"Loaded: {', '.join(names)}.")
    return " ".join(lines)


def _listed(made: Instructions, path: str) -> str:
    """The reference as the skill lists it. Nothing that it does not list is ever read (S1-21). Raises SkillError."""
    if path in made.offered:
        return path
    named = [offered for offered in made.offered if offered.rpartition("/")[2] == path]
    if len(named) == 1:
        return named[0]
    has = ", ".join(made.offered) or "none"
    fact = f"the skill {made.skill.name} has no reference {path[:80]!r}"
    raise SkillError(SkillTrouble.BAD_REFERENCE, fact, f"it has: {has}")
