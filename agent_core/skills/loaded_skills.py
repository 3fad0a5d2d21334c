"""What is loaded in one chat, kept true to the files.

Whether a skill counts as loaded is decided here alone: the marks, the prompt and what is written down all come from
here (S1-03).
"""

from collections.abc import Callable
from dataclasses import dataclass

from agent_core.skills import layout
from agent_core.skills.errors import SkillError, SkillTrouble
from agent_core.skills.library import LOOK_EVERY, SkillLibrary
from agent_core.skills.loaded import SKILL_TOKENS, LoadedSkill, read_instructions, read_reference
from agent_core.skills.own import OwnSkills
from agent_core.skills.shelved import Shelved, ShelvedSkill
from agent_core.skills.skill import Skill


@dataclass(frozen=True)
class Texts:
    """The parts of the prompt."""

    always: str
    protocol: str
    index: str
    loaded: str
    references: str


class LoadedSkills:
    """Files are looked at in `refresh` only; everything else says what was seen then."""

    def __init__(self, library: SkillLibrary, own: OwnSkills, on_change: Callable[[Shelved], object]) -> None:
        self.loaded: dict[str, LoadedSkill] = {}
        """In the order of loading."""
        self.always: dict[str, LoadedSkill] = {}
        self.notes: dict[str, str] = {}
        """What people should know of a skill that is or was loaded."""
        self._library = library
        self._own = own
        self._on_change = on_change
        self._absent: dict[str, ShelvedSkill] = {}
        """What people hold, but cannot be read at the moment."""
        self._texts: Texts | None = None
        self._generation = library.generation
        self._checked = library.clock()
        self._always_now()

    @property
    def texts(self) -> Texts:
        """The same bytes until something changes."""
        if self._texts is None:
            offered = self.offered()
            self._texts = Texts(
                always=layout.always(item.now.block for item in self.always.values()),
                protocol=layout.PROTOCOL if offered or self.always else "",
                index=layout.index(offered),
                loaded=layout.loaded(item.now.block for item in self.loaded.values()),
                references=layout.references(
                    {
                        (name, path): text
                        for name, item in (*self.always.items(), *self.loaded.items())
                        for path, text in item.references.items()
                    }
                ),
            )
        return self._texts

    @property
    def shelved(self) -> Shelved:
        kept = [
            ShelvedSkill(name=name, references=tuple(item.references), held=item.held, digest=item.digest)
            for name, item in (*self.loaded.items(), *self.always.items())
            if name in self.loaded or item.references
        ]
        return Shelved(skills=(*kept, *self._absent.values()))

    @property
    def tokens(self) -> int:
        return sum(item.tokens for item in self.loaded.values())

    def offered(self) -> list[tuple[Skill, bool]]:
        """What a model can load, and what is loaded, by name; what is always there needs no mention."""
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
        """No longer wait for a held skill that could not be read; whether there was one."""
        if self._absent.pop(name, None) is None:
            return False
        self.remove(name)
        return True

    def changed(self) -> None:
        self._texts = None
        self._on_change(self.shelved)

    # Files

    def restore(self, shelved: Shelved) -> None:
        """Load what was loaded in an earlier life; what people hold waits for its file if need be."""
        for kept in shelved.skills:
            self._restore(kept)
        self._texts = None

    def refresh(self, *, now: bool = False) -> None:
        """At most once every two seconds unless `now`."""
        self._library.refresh(now=now)
        if self._generation != self._library.generation:
            self._generation = self._library.generation
            self._take_over()
        time = self._library.clock()
        if now or time - self._checked >= LOOK_EVERY:
            self._checked = time
            self.check_own()

    def check_own(self) -> None:
        """Take out what does not say any more what a person approved (D-10)."""
        changed = [
            name
            for name, item in self.loaded.items()
            if item.digest is not None and self._own.approved(item.skill, item.digest) is None
        ]
        self.remove(*changed)
        for name in changed:
            self.notes[name] = _changed_since(name)

    def reference(self, item: LoadedSkill, path: str) -> str:
        """Raises SkillError, also where one of the chat's own does not say any more what a person approved."""
        if item.digest is None:
            return read_reference(item.skill, path)
        said = self._own.approved(item.skill, item.digest)
        if said is None:
            self.check_own()
            name = item.skill.name
            raise SkillError(SkillTrouble.NOT_LOADED, f"the skill {name} was changed, and taken out", "tell the person")
        return read_reference(said.skill, path, said.read)

    def read_again(self, item: LoadedSkill, skill: Skill) -> None:
        """Raises SkillError, and leaves the item as it was."""
        now = read_instructions(skill)
        references = {path: read_reference(skill, path) for path in item.references if path in now.offered}
        item.now, item.references = now, references

    def _take_over(self) -> None:
        """What the files say now; where one cannot be read, what it said last."""
        self._always_now()
        for name, item in list(self.loaded.items()):
            if item.digest is None:
                self._update(name, item)
        absent, self._absent = self._absent, {}
        for kept in absent.values():
            self._restore(kept)
        self._texts = None

    def _update(self, name: str, item: LoadedSkill) -> None:
        skill = self._library.find(name)
        if name in self.always:
            self.loaded.pop(name)
        elif skill is not None and not skill.header.enabled:
            self.loaded.pop(name)
            self.notes[name] = f"{name}: it was switched off in its file, and was taken out"
            if item.held:
                self._absent[name] = ShelvedSkill(name=name, held=True)
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
        """Those that are always there get as much together as any other gets alone."""
        if item.now.tokens + sum(other.now.tokens for other in self.always.values()) <= SKILL_TOKENS:
            return True
        self.notes[item.skill.name] = (
            f"{item.skill.name}: there is no room for it among the skills that are always loaded; load it by command"
        )
        return False

    def _restore(self, kept: ShelvedSkill) -> None:
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

    def _read(self, kept: ShelvedSkill) -> LoadedSkill | None:
        """None where a skill of the chat's own says something else than was approved."""
        if kept.digest is None:
            shared = self._library.get(kept.name)
            if not shared.header.enabled:
                raise SkillError(SkillTrouble.DISABLED, "it is switched off in its file", "it comes back with it")
            return LoadedSkill(read_instructions(shared), kept.held)
        skill = self._own.find(kept.name)
        said = self._own.approved(skill, kept.digest) if skill else None
        return LoadedSkill(read_instructions(said.skill, said.read), kept.held, said.digest) if said else None


def _changed_since(name: str) -> str:
    return f"{name}: it was changed after a person loaded it, and was taken out; look at it and load it again"
