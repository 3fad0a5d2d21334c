"""The three places where settings stand, read into one shape: which setting, which value, and where it was found."""

import difflib
import io
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dotenv.parser import parse_stream

from gateway.errors import SettingsError

Key = tuple[str, ...]
"""A setting's place in the settings: `("model",)`, `("web", "port")`, `("telegram", "bot_token")`,
`("mcp", "weather", "url")`."""


@dataclass(frozen=True)
class Entry:
    value: object
    place: str
    """For a sentence: `PARLEY_MODEL in the environment`, `web.port in /home/ann/.parley/parley.toml, line 3`."""


Layer = Mapping[Key, Entry]


@dataclass(frozen=True)
class Names:
    """What the settings are called."""

    flat: Mapping[str, Key]
    """Name in the environment and in `.env` -> setting."""
    prefixes: tuple[str, ...]
    """In `.env` a name that begins so is ours, and has to be one that we know."""
    elsewhere: Mapping[str, str]
    """Names that are right, but not in a file -> why."""
    named: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Of `parley.toml` alone: tables that hold tables to which people give names, and what each of those may hold."""

    @property
    def tables(self) -> Mapping[str, frozenset[str]]:
        """The tables of `parley.toml` and what each may hold; the table "" is the top of the file."""
        keys = set(self.flat.values())
        return {
            table: frozenset(key[-1] for key in keys if key[:-1] == ((table,) if table else ()))
            for table in {key[0] if len(key) > 1 else "" for key in keys}
        }


def read_environ(environ: Mapping[str, str], names: Names) -> Layer:
    """Empty values count as not set. Raises SettingsError for a `PARLEY_` name that does not exist."""
    for name in environ:
        if name.startswith("PARLEY_") and name not in names.flat and name not in names.elsewhere:
            raise _unknown(f"{name} in the environment", name, names.flat)
    return {
        names.flat[name]: Entry(value, f"{name} in the environment")
        for name, value in environ.items()
        if name in names.flat and value.strip()
    }


def parse_dotenv(text: str, file: Path) -> dict[str, tuple[str, int]]:
    """Name -> value and line, nothing interpolated. Raises SettingsError for a line that is no NAME=value."""
    found: dict[str, tuple[str, int]] = {}
    for binding in parse_stream(io.StringIO(text)):
        raw = binding.original.string
        line = binding.original.line + raw[: len(raw) - len(raw.lstrip())].count("\n")
        if binding.error or (binding.key is not None and binding.value is None):
            raise SettingsError(f"{file}, line {line} is not of the form NAME=value; correct it or put a # before it.")
        if binding.key is not None and binding.value is not None:
            found[binding.key] = (binding.value, line)
    return found


def read_dotenv(values: Mapping[str, tuple[str, int]], file: Path, names: Names) -> Layer:
    """Raises SettingsError for a name that is ours by its prefix and does not exist."""
    layer: dict[Key, Entry] = {}
    for name, (value, line) in values.items():
        place = f"{name} in {file}, line {line}"
        if name in names.elsewhere:
            raise SettingsError(f"{place} has no effect: {names.elsewhere[name]}")
        if name in names.flat:
            if value.strip():
                layer[names.flat[name]] = Entry(value, place)
        elif name.startswith(names.prefixes):
            raise _unknown(place, name, names.flat)
    return layer


def read_toml(text: str, file: Path, names: Names) -> Layer:
    """Raises SettingsError for what is no TOML, and for any key that does not exist."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{file} is not valid TOML: {error}; correct that line.") from error
    layer: dict[Key, Entry] = {}
    for name, value in document.items():
        if name in names.named:
            for given, inner in _table((name,), "name", value, text, file).items():
                layer |= _named_table((name, given), inner, text, file, names.named[name])
        elif name in names.tables:
            layer |= _toml_table(name, _table((name,), "", value, text, file), text, file, names)
        else:
            layer |= _toml_table("", {name: value}, text, file, names)
    return layer


def nested(layer: Layer) -> dict[str, object]:
    """The values as the settings model takes them."""
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
    """`below`: what stands for the name of a table in this one, where it holds tables."""
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
            raise _unknown(_place((*key, name), text, file), name, known)
    return {(*key, name): Entry(each, _place((*key, name), text, file)) for name, each in table.items()}


def _toml_table(table: str, values: Mapping[str, object], text: str, file: Path, names: Names) -> Layer:
    layer: dict[Key, Entry] = {}
    for name, value in values.items():
        key = (table, name) if table else (name,)
        place = _place(key, text, file)
        if (reason := names.elsewhere.get(f"PARLEY_{name.upper()}")) and not table:
            raise SettingsError(f"{place} has no effect: {reason}")
        if name not in names.tables[table]:
            others = frozenset[str]() if table else (names.tables.keys() - {""}) | names.named.keys()
            raise _unknown(place, name, names.tables[table] | others)
        layer[key] = Entry(value, place)
    return layer


def _place(key: Key, text: str, file: Path) -> str:
    line = _line_of(key, text)
    return f"{'.'.join(key)} in {file}" + (f", line {line}" if line else "")


def _line_of(key: Key, text: str) -> int | None:
    """Where a key of a TOML file stands, if it is written plainly."""
    table = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if (stripped := line.strip()).startswith("["):
            table = stripped.strip("[] ")
            if table == ".".join(key):
                return number
        elif stripped.partition("=")[0].strip().strip("\"'") == key[-1] and table == ".".join(key[:-1]):
            return number
    return None


def _unknown(place: str, name: str, known: Iterable[str]) -> SettingsError:
    short = {each.removeprefix("PARLEY_"): each for each in sorted(known)}
    near = difflib.get_close_matches(name.removeprefix("PARLEY_"), short, n=1)
    advice = f"did you mean {short[near[0]]}?" if near else f"what may stand there: {', '.join(short.values())}."
    return SettingsError(f"There is no setting {place}; {advice}")
