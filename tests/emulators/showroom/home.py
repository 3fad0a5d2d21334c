"""The home folder with the settings of a Parley that uses the emulators."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

FILE = ".env"
HEAD = """\
# With these settings Parley talks to the emulators of `./run emulators` and to nobody else.
# Written once: what you change or add stays. Delete this file to have it written anew.
"""


@dataclass(frozen=True)
class Home:
    """`differing` are existing settings that do not match the emulators."""

    folder: Path
    fresh: bool
    differing: tuple[str, ...] = ()

    @property
    def file(self) -> Path:
        return self.folder / FILE


def settle(folder: Path, settings: Mapping[str, str], people: Iterable[tuple[str, Mapping[str, str]]]) -> Home:
    """Write the folder's `.env`, unless there is one. `people` are comments with settings about users."""
    folder.mkdir(mode=0o700, exist_ok=True)
    folder.chmod(0o700)
    file = folder / FILE
    if file.exists():
        return Home(folder, fresh=False, differing=tuple(_differing(file.read_text(encoding="utf-8"), settings)))
    file.touch(mode=0o600)
    about = "".join(f"\n# {comment}\n{_lines(values)}" for comment, values in people)
    file.write_text(f"{HEAD}\n{_lines(settings)}{about}", encoding="utf-8")
    return Home(folder, fresh=True)


def _lines(settings: Mapping[str, str]) -> str:
    return "".join(f"{name}={value}\n" for name, value in settings.items())


def _differing(written: str, settings: Mapping[str, str]) -> Iterable[str]:
    lines = {line.strip() for line in written.splitlines()}
    return (name for name, value in settings.items() if f"{name}={value}" not in lines)
