"""The header of a SKILL.md: YAML between two `---` lines, read tolerantly and with limits.

Keys may be written with `-` or `_`; unknown ones are ignored. Values under `metadata`, as in files of other agents
(`metadata.openclaw.requires.bins`), are used if the file has none itself. Scalars stay strings, so that `version: 1.10`
is not 1.1 and `name: no` is not a boolean. A header that is not valid YAML is read key by key, with a warning.
"""

import re
from collections.abc import Iterator, Mapping

import yaml
from msgspec import Struct

from agent_core.models.tokens import estimate
from agent_core.skills.loose_head import loosely, text_at
from agent_core.untrusted import harmless

LONG_TOKENS = 5_000
"""Tokens of instructions from which on authors are advised to move details into references."""
NAME_CHARS = 64
DESCRIPTION_CHARS = 1_024
_NAMES = f"use a-z, 0-9 and single hyphens, {NAME_CHARS} characters at most"

_HEAD_CHARS = 32_000
_MOST_NESTED = 8
_MOST_LISTED = 30
_WORD_CHARS = 100
_FENCED = re.compile(r"\A\s*-{3,}[ \t]*\n(?P<head>.*?)^(?:-{3,}|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE | re.DOTALL)
_BEFORE = re.compile(r"<!--(?s:.{0,2000}?)-->|```[ \t]*(?:ya?ml|markdown|md)?(?=\s)")
"""A comment, or the fence of a code block, that some put before the header."""
_UNFIT = re.compile(r"[^a-z0-9]+")
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_NOTHING = frozenset({"", "~", "null"})
_YES = frozenset({"true", "yes", "on", "1"})
_NO = frozenset({"false", "no", "off", "0"})


class BadSkill(Exception):
    """A skill cannot be used; the text says what is wrong and what to do, without the file's name."""

    def __init__(self, fact: str, advice: str) -> None:
        super().__init__(f"{fact}; {advice}")
        self.fact = fact
        self.advice = advice


class NotYaml(BadSkill):
    """The header is not valid YAML, no mapping, or more than Parley reads of YAML."""


class Requirements(Struct, frozen=True):
    """Requirements of a skill on the machine."""

    bins: tuple[str, ...] = ()
    any_bins: tuple[str, ...] = ()
    """Any one of these is enough."""
    env: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    """Python packages for its scripts; only shown, because scripts get theirs when they run."""
    systems: tuple[str, ...] = ()
    """`linux`, `darwin`, `windows`; empty for any."""


class Header(Struct, frozen=True):
    name: str
    description: str
    """One line."""
    when_to_use: str = ""
    tags: tuple[str, ...] = ()
    version: str = ""
    license: str = ""
    always: bool = False
    enabled: bool = True
    disable_model_invocation: bool = False
    """Only users can load it."""
    requires: Requirements = Requirements()
    warnings: tuple[str, ...] = ()
    """Problems that do not prevent its use, each with what to do."""


def split(content: bytes) -> tuple[str, str]:
    """Split a SKILL.md into YAML and instructions. Raises BadSkill."""
    try:
        text = content.decode("utf-8-sig").lstrip("\ufeff\u200b").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise BadSkill(f"it is not UTF-8 (byte {error.start})", "save it as UTF-8") from error
    before = _BEFORE.match(text.lstrip())
    found = _FENCED.match(text.lstrip()[before.end() :] if before else text)
    if found is None:
        raise BadSkill("it does not begin with YAML between two lines of ---", "begin it with name and description")
    return found["head"], found.string[found.end() :].strip()


def read_header(content: bytes, folder: str) -> Header:
    """Parse the header; the default name is `folder`. Raises BadSkill."""
    head, body = split(content)
    fields, warnings = _fields(head)
    name = _name(_text(fields, "name"), folder, warnings)
    description = _text(fields, "description")
    if not description:
        raise BadSkill("it has no description", "say in one what it does and when to use it")
    if len(description) > DESCRIPTION_CHARS:
        warnings.append(f"its description has {len(description)} characters; make it {DESCRIPTION_CHARS} at most")
    if (tokens := estimate(body)) > LONG_TOKENS:
        warnings.append(f"its instructions have {tokens} tokens; move details into references")
    return Header(
        name=name,
        description=_cut(description),
        when_to_use=_cut(_text(fields, "when_to_use")),
        tags=_words(fields.get("tags")),
        version=_text(fields, "version")[:_WORD_CHARS],
        license=_text(fields, "license")[:_WORD_CHARS],
        always=_flag(fields, "always"),
        enabled=_said(fields, "enabled") not in _NO and not _flag(fields, "disabled"),
        disable_model_invocation=_flag(fields, "disable_model_invocation"),
        requires=_requirements(fields),
        warnings=tuple(warnings),
    )


def _fields(head: str) -> tuple[dict[str, object], list[str]]:
    """Return the header's fields, and a warning if it is not valid YAML. Raises BadSkill."""
    if len(head) > _HEAD_CHARS:
        raise BadSkill(f"its YAML has more than {_HEAD_CHARS} characters", "keep what is long below it")
    warnings: list[str] = []
    try:
        fields = _keyed(_loaded(head))
    except NotYaml as error:
        fields = _keyed(loosely(head, _readable))
        if not fields.keys() & {"name", "description"}:
            raise
        warnings.append(f"{error.fact} and was read line by line; {error.advice}")
    if not isinstance(fields.get("description"), str):  # a list, words with a colon, or no space after that of the key
        fields["description"] = text_at(head, "description")
    return fields, warnings


def _name(given: str, folder: str, warnings: list[str]) -> str:
    """Return the skill's name: the one that is given, else that of the folder. Raises BadSkill."""
    made = (_UNFIT.sub("-", each.lower()).strip("-") for each in (given, folder))
    name = next((each for each in (given, folder, *made) if _is_name(each)), "")
    if not name:
        raise BadSkill(f"{_shown(given or folder)} is no name for a skill", _NAMES)
    if given and given != name:
        warnings.append(f"{_shown(given)} is no name for a skill, so it is called {name}; {_NAMES}")
    elif name != folder:
        warnings.append(f"it is called {name}, but its folder {_shown(folder)}; give both one name")
    return name


def _is_name(text: str) -> bool:
    return len(text) <= NAME_CHARS and _NAME.fullmatch(text) is not None


def _readable(text: str) -> Mapping[object, object]:
    """Parse YAML. Raises ValueError."""
    try:
        return _loaded(text)
    except BadSkill as error:
        raise ValueError from error


def _loaded(head: str) -> Mapping[object, object]:
    """Parse YAML to strings, lists and mappings only, whatever tags it has. Raises BadSkill."""
    try:
        _check(head)
        loader = yaml.CBaseLoader(head)
        try:
            value = loader.get_single_data()
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        raise NotYaml(f"its YAML cannot be read: {_where(error)}", "put text with : or # in quotes") from error
    if not isinstance(value, Mapping):
        raise NotYaml("its YAML is no list of keys and values", "begin it with name: and description:")
    return value


def _check(head: str) -> None:
    """Check the YAML before it is built: a few lines of aliases can expand to more than fits in memory."""
    depth = 0
    for event in yaml.parse(head, Loader=yaml.CBaseLoader):
        if isinstance(event, yaml.AliasEvent):
            raise NotYaml("its YAML uses an alias (*)", "write out what it stands for")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _MOST_NESTED:
            raise NotYaml("its YAML is nested too deeply", "keep it flat")


def _where(error: yaml.YAMLError) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        return f"line {error.problem_mark.line + 2}, {_shown(error.problem or error.context or '')}"
    return _shown(str(error))


def _requirements(fields: Mapping[str, object]) -> Requirements:
    own = [fields, _keyed(fields.get("requires"))]
    theirs = [_keyed(value) for value in _keyed(fields.get("metadata")).values()]
    places = [*own, _keyed(fields.get("metadata")), *theirs]
    places += [_keyed(place.get("requires")) for place in places]

    def first(*keys: str) -> tuple[str, ...]:
        return next((words for place in places for key in keys if (words := _words(place.get(key)))), ())

    return Requirements(
        bins=first("bins", "required_bins"),
        any_bins=first("any_bins", "anybins"),
        env=first("env", "required_env"),
        packages=first("packages", "required_packages"),
        systems=first("os", "systems"),
    )


def _keyed(value: object) -> dict[str, object]:
    if not isinstance(value, Mapping):
        return {}
    return {str(key).strip().lower().replace("-", "_"): item for key, item in value.items()}


def _said(fields: Mapping[str, object], key: str) -> str:
    value = fields.get(key)
    return value.strip().lower() if isinstance(value, str) else ""


def _flag(fields: Mapping[str, object], key: str) -> bool:
    return _said(fields, key) in _YES


def _text(fields: Mapping[str, object], key: str) -> str:
    """Return a value as one line, without control tokens of models."""
    value = fields.get(key)
    if not isinstance(value, str) or value.strip().lower() in _NOTHING:
        return ""
    return harmless(" ".join(value.split())).strip()


def _words(value: object) -> tuple[str, ...]:
    """Return a list, or a line split at commas."""
    items = value.split(",") if isinstance(value, str) else value
    if not isinstance(items, list):
        return ()
    return tuple(_words_of(items))[:_MOST_LISTED]


def _words_of(items: list[object]) -> Iterator[str]:
    for item in items:
        if isinstance(item, str) and (word := harmless(" ".join(item.split()))[:_WORD_CHARS].strip()):
            yield word


def _cut(text: str) -> str:
    return text if len(text) <= DESCRIPTION_CHARS else f"{text[: DESCRIPTION_CHARS - 1]}…"


def _shown(text: str) -> str:
    return repr(harmless(" ".join(text.split()))[:_WORD_CHARS])
