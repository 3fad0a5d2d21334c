"""Reads settings from the environment, `.env` and `parley.toml`, with the place where each value was found."""

import difflib
import io
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from dotenv.parser import parse_stream
from msgspec import Struct, field

from gateway.errors import Refusals, SettingsError
from gateway.texts.say import Language, say

Key = tuple[str, ...]
"""Path of a setting: `("model",)`, `("web", "port")`, `("telegram", "bot_token")`, `("mcp", "weather", "url")`."""


class Origin(Struct, frozen=True):
    """The place of a setting. As text: `PARLEY_MODEL in the environment`, `web.port in .../parley.toml, line 3`."""

    name: str
    file: Path | None = None
    """None for the environment."""
    line: int | None = None
    """None if it is not known."""

    def __str__(self) -> str:
        return self.words("en")

    def words(self, language: Language) -> str:
        """Return the place in a language."""
        if self.file is None:
            return say("origin_environment", language, name=self.name)
        key = "origin_file" if self.line is None else "origin_line"
        return say(key, language, name=self.name, file=f"{self.file}", line=f"{self.line}")


class Entry(Struct, frozen=True):
    value: object
    place: Origin


Layer = Mapping[Key, Entry]


class Names(Struct, frozen=True):
    """Names of all settings."""

    flat: Mapping[str, Key]
    """Settings by their name in the environment and in `.env`."""
    prefixes: tuple[str, ...]
    """Prefixes of our names in `.env`; an unknown name with one of them is an error."""
    elsewhere: Mapping[str, str]
    """Names that are not read from files, with the reason."""
    named: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Tables of `parley.toml` that hold tables with user-chosen names, and the keys allowed in those."""
    former: Mapping[Key, Key] = field(default_factory=dict)
    """Settings by their former paths."""
    open_table: str = ""
    """Table of settings of which some may be known only later; empty: there is none."""

    def key(self, variable: str) -> Key | None:
        """Return the setting with this name in the environment; None if there can be none."""
        if variable in self.flat:
            return self.flat[variable]
        for path, key in self.former.items():
            if variable == f"PARLEY_{'_'.join(path)}".upper():
                return key
        prefix = f"PARLEY_{self.open_table}_".upper()
        name = variable.removeprefix(prefix).lower()
        return (self.open_table, name) if self.open_table and variable.startswith(prefix) and "_" in name else None

    @property
    def tables(self) -> Mapping[str, frozenset[str]]:
        """Tables of `parley.toml` with their allowed keys. The table "" is the top level of the file."""
        keys = set(self.flat.values())
        return {
            table: frozenset(key[-1] for key in keys if key[:-1] == ((table,) if table else ()))
            for table in {self.open_table, *(key[0] if len(key) > 1 else "" for key in keys)}
        }


def read_environ(environ: Mapping[str, str], names: Names, refusals: Refusals) -> Layer:
    """Return the settings in the environment. Empty values are ignored, unknown `PARLEY_` names are refused."""
    layer: dict[Key, Entry] = {}
    for name in _former_first(environ, names):
        key, value = names.key(name), environ[name]
        if key is not None and value.strip():
            layer[key] = Entry(value, Origin(name))
        elif key is None and name.startswith("PARLEY_") and name not in names.elsewhere:
            refusals.note(unknown(Origin(name), name, names.flat))
    return layer


def parse_dotenv(text: str, file: Path, refusals: Refusals) -> dict[str, tuple[str, int]]:
    """Return value and line by name, without interpolation. Lines not of the form NAME=value are refused."""
    found: dict[str, tuple[str, int]] = {}
    for binding in parse_stream(io.StringIO(text)):
        raw = binding.original.string
        line = binding.original.line + raw[: len(raw) - len(raw.lstrip())].count("\n")
        if binding.error or (binding.key is not None and binding.value is None):
            wrong = f"{file}, line {line} is not of the form NAME=value; correct it or put a # before it."
            refusals.note(SettingsError(wrong))
        elif binding.key is not None and binding.value is not None:
            found[binding.key] = (binding.value, line)
    return found


def read_dotenv(values: Mapping[str, tuple[str, int]], file: Path, names: Names, refusals: Refusals) -> Layer:
    """Return the settings in a `.env` file. Unknown names with one of our prefixes are refused."""
    layer: dict[Key, Entry] = {}
    for name in _former_first(values, names):
        value, line = values[name]
        place, key = Origin(name, file, line), names.key(name)
        with refusals.noted():
            if name in names.elsewhere:
                raise SettingsError(f"{place} has no effect: {names.elsewhere[name]}")
            if key is not None:
                if value.strip():
                    layer[key] = Entry(value, place)
            elif name.startswith(names.prefixes):
                raise unknown(place, name, names.flat)
    return layer


def _former_first(variables: Iterable[str], names: Names) -> Sequence[str]:
    """Return the variables so that the present name of a setting comes after its former one, and wins."""
    return sorted(variables, key=lambda name: name in names.flat)


def read_toml(text: str, file: Path, names: Names, refusals: Refusals) -> Layer:
    """Return the settings in a TOML file. Invalid TOML and unknown keys are refused."""
    layer: dict[Key, Entry] = {}
    for name, value in _document(text, file, refusals).items():
        with refusals.noted():
            if name in names.named:
                for given, inner in _table((name,), "name", value, text, file).items():
                    with refusals.noted():
                        layer |= _named_table((name, given), inner, text, file, names.named[name])
            elif name in names.tables:
                layer |= _toml_table(name, _table((name,), "", value, text, file), text, file, names, refusals)
            else:
                layer |= _toml_table("", {name: value}, text, file, names, refusals)
    return layer


def _document(text: str, file: Path, refusals: Refusals) -> Mapping[str, object]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        refusals.note(SettingsError(f"{file} is not valid TOML: {error}; correct that line."))
        return {}


def nested(layer: Layer) -> dict[str, object]:
    """Return the values nested as the settings model expects them."""
    tree: dict[str, object] = {}
    for key, entry in layer.items():
        if len(key) == 1:
            tree[key[0]] = entry.value
        else:
            table = tree.setdefault(key[0], {})
            if isinstance(table, dict):
                table[key[1]] = entry.value
    return tree


def _table(key: Key, below: str, value: object, text: str, file: Path) -> Mapping[str, object]:
    """Return the value if it is a table. `below` is a placeholder for the inner name of a table of tables."""
    if isinstance(value, dict):
        return value
    head = ".".join((*key, below) if below else key)
    raise SettingsError(
        f"{_place(key, text, file)} is a table: write [{head}] on a line of its own, and its keys below."
    )


def _named_table(key: Key, value: object, text: str, file: Path, known: Iterable[str]) -> Layer:
    table = _table(key, "", value, text, file)
    for name in table:
        if name not in known:
            raise unknown(_place((*key, name), text, file), name, known)
    return {(*key, name): Entry(each, _place((*key, name), text, file)) for name, each in table.items()}


def _toml_table(
    table: str, values: Mapping[str, object], text: str, file: Path, names: Names, refusals: Refusals
) -> Layer:
    layer: dict[Key, Entry] = {}
    for name, value in values.items():
        key = (table, name) if table else (name,)
        place = _place(key, text, file)
        with refusals.noted():
            if (reason := names.elsewhere.get(f"PARLEY_{name.upper()}")) and not table:
                raise SettingsError(f"{place} has no effect: {reason}")
            if key not in names.former and name not in names.tables[table] and table != (names.open_table or None):
                others = frozenset[str]() if table else (names.tables.keys() - {""}) | names.named.keys()
                raise unknown(place, name, names.tables[table] | others)
            layer[names.former.get(key, key)] = Entry(value, place)
    return layer


def _place(key: Key, text: str, file: Path) -> Origin:
    return Origin(".".join(key), file, _line_of(key, text))


def _line_of(key: Key, text: str) -> int | None:
    """Return the line of a key in a TOML file, or None if it is not written in the plain form."""
    table = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if (stripped := line.strip()).startswith("["):
            table = stripped.strip("[] ")
            if table == ".".join(key):
                return number
        elif stripped.partition("=")[0].strip().strip("\"'") == key[-1] and table == ".".join(key[:-1]):
            return number
    return None


def unknown(place: Origin, name: str, known: Iterable[str]) -> SettingsError:
    """Return the refusal of a name that is not known, with the one that it resembles."""
    short = {each.removeprefix("PARLEY_"): each for each in sorted(known)}
    near = difflib.get_close_matches(name.removeprefix("PARLEY_"), short, n=1)
    advice = f"did you mean {short[near[0]]}?" if near else f"what may stand there: {', '.join(short.values())}."
    return SettingsError(f"There is no setting {place}; {advice}")
