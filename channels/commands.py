"""Commands as platforms offer them: their names, and their arguments as typed options, read from usage hints.

A usage hint such as `load|unload|reload NAME` is the one place where a command's arguments are declared: capitals stand
for what the user writes, lower case for words to choose from, and brackets for what may be left out.
"""

import re

from pydantic import Field

from channels.values import Text, Value

_PART = re.compile(r"\[[^\[\]]*\]|[^\s\[\]]+")
_PLACE = re.compile(r"[A-Z][A-Z_]*\Z")
NUMBERS = frozenset({"N", "NUMBER"})
"""Places that stand for whole numbers."""
TEXTS = frozenset({"TEXT", "WORDS"})
"""Places that stand for texts of any length."""
ACTION, CHOICE, LEVEL = "action", "choice", "level"
WIDEST = "everywhere"
"""A word that only choices of a level have."""


class CommandOption(Value):
    """An argument of a command. Its name is in lower case, without spaces, as Discord demands."""

    name: str
    hint: str
    """The part of the usage hint that it stands for."""
    choices: tuple[str, ...] = ()
    """The only values it can have; empty if the user writes it."""
    proposals: tuple[str, ...] = ()
    """Words that the user may choose instead of writing."""
    is_number: bool = False
    required: bool = False


def options(usage: str) -> tuple[CommandOption, ...]:
    """Return the options that a usage hint describes, in its order."""
    found: dict[str, CommandOption] = {}
    parts = _PART.findall(usage)
    for part in parts:
        required = not part.startswith("[") and not any(option.choices for option in found.values())
        for option in _of_part(part.strip("[]"), required=required, alone=len(parts) == 1):
            name = CHOICE if option.choices and option.name in found else option.name
            found.setdefault(name, option.model_copy(update={"name": name}))
    return tuple(found.values())


def _of_part(part: str, *, required: bool, alone: bool) -> list[CommandOption]:
    """Return the options of one part: words to choose from, and the places that follow them."""
    branches = [branch.split() for branch in part.split("|") if branch.strip()]
    words = tuple(branch[0] for branch in branches if not _PLACE.match(branch[0]))
    places = [word for branch in branches for word in (branch[1:] if branch[0] in words else branch)]
    if words and any(_PLACE.match(branch[0]) for branch in branches):
        name = next(word for word in places if _PLACE.match(word))
        return [CommandOption(name=name.lower(), hint=part, proposals=words, required=required)]
    made = []
    if words:
        name = LEVEL if WIDEST in words else CHOICE if alone and not places else ACTION
        made.append(CommandOption(name=name, hint="|".join(words), choices=words, required=required))
    named = [word for word in places if _PLACE.match(word)]
    if len(places) > len(named) or (words and len(set(named)) > 1):
        made.append(CommandOption(name="more", hint=part))
        return made
    return made + [
        CommandOption(
            name=word.lower(), hint=word, is_number=word in NUMBERS and not words, required=required and not words
        )
        for word in named
    ]


class FormField(Value):
    """A field of a form; what is filled in is typed after what the other fields have before it."""

    label: Text
    choices: tuple[str, ...] = ()
    """The only values it can have; empty if the user writes it."""
    required: bool = False
    is_long: bool = False
    """True for texts of several lines."""


class Form(Value):
    """The fields for the arguments of a command that are not given yet."""

    title: Text
    fields: tuple[FormField, ...]
    file: Text = ""
    """Label of the field for a file that may be given with the command; empty if none can."""


def fields(usage: str, begun: int) -> tuple[FormField, ...]:
    """Return the fields that a usage hint describes, in its order, without so many of the first. One is required."""
    found: list[FormField] = []
    for part in _PART.findall(usage):
        words = [branch.split() for branch in part.strip("[]").split("|") if branch.strip()]
        choices = tuple(branch[0] for branch in words if not _PLACE.match(branch[0]))
        places = [word for branch in words for word in branch if _PLACE.match(word)]
        alone = part.startswith("[") and len(words) == len(places) == 1
        found += [FormField(label=ACTION, choices=choices)] if choices else []
        found += [FormField(label=each, required=not alone, is_long=each in TEXTS) for each in dict.fromkeys(places)]
    return tuple(each.model_copy(update={"required": True}) if not n else each for n, each in enumerate(found[begun:]))


class CommandSpec(Value):
    """A slash command as shown in a platform's menu."""

    name: str
    description: dict[str, str]
    """Descriptions by language: `{"en": ..., "zh": ...}`."""
    arguments: str = ""
    """Usage hint, such as `[en|zh]`."""
    usage: dict[str, str] = Field(default_factory=dict)
    """The usage hint by language, as people read it."""
    private: bool = False
    """True if it is offered in private chats only."""
    for_admins: bool = False
    """True if menus that differ by person offer it to owners and admins only."""
    takes_files: bool = False
    """True if a file can be given with it."""
    form: str | None = None
    """Pattern of the arguments after which a form asks for the others, where the platform has forms."""
    on_messages: dict[str, str] = Field(default_factory=dict)
    """Names of its entry in the menus on messages, by language; empty if there is none."""

    @property
    def options(self) -> tuple[CommandOption, ...]:
        return options(self.arguments)


class Typed(Value):
    """An argument that a user is typing."""

    command: str
    option: str
    text: Text
    """What is typed so far."""
    before: Text = ""
    """The other arguments, in the order of the usage hint."""


class Suggestion(Value):
    """A value that an argument of a command can have."""

    value: Text
    label: Text
    """The value in words."""
