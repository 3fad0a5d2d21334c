"""Finds the plugins of others in the packages that are installed, without importing anything of them."""

import hashlib
import importlib
import os
import pkgutil
from collections.abc import Iterator, Mapping, Sequence, Set
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path

from msgspec import Struct
from pydantic import BaseModel, ConfigDict

HOME = "gateway.plugins"
GROUP = "parley.plugins"
"""The group of entry points. Each names a class, as in `dice = parley_dice:Dice`."""
_OF_INSTALLERS = frozenset({"RECORD", "INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json"})
"""Files of a `.dist-info` folder that differ if the same package is installed again."""
CODE_CHARS = 12
"""Characters of a digest that people are shown."""
_UNCHECKED = 0b01
"""Flags of a compiled file that Python takes without a look at its source."""


class InstalledPlugin(Struct, frozen=True):
    """A plugin of others, as its package describes it."""

    name: str
    package: str
    version: str
    entry: EntryPoint


class Content(BaseModel):
    """The version of a package, and the digest of the files that it has brought."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    package: str
    version: str
    digest: str

    @property
    def code(self) -> str:
        return self.digest[:CODE_CHARS]


def names_of_ours() -> Set[str]:
    """Return the names of the plugins that come with Parley, which are those of their folders."""
    return {each.name for each in pkgutil.iter_modules(importlib.import_module(HOME).__path__) if each.ispkg}


def installed_plugins() -> Mapping[str, Sequence[InstalledPlugin]]:
    """Return the plugins of others by name; several of one name if several packages have it."""
    found: dict[str, list[InstalledPlugin]] = {}
    for entry in entry_points(group=GROUP):
        if entry.dist is not None:
            plugin = InstalledPlugin(entry.name, entry.dist.name, entry.dist.version, entry)
            found.setdefault(entry.name, []).append(plugin)
    return {name: sorted(each, key=lambda plugin: plugin.package) for name, each in found.items()}


def content_of(plugin: InstalledPlugin) -> Content:
    """Return what is installed of a plugin now. Blocks. Raises OSError, ImportError and ValueError."""
    return Content(package=plugin.package, version=plugin.version, digest=_digest_of(plugin))


def _digest_of(plugin: InstalledPlugin) -> str:
    """Return a hash of the names and contents of a plugin's files.

    These are the files of its package, and those that an import of its module would read, wherever they are. What
    installers note, and compiled files that Python compares with their source, differ each time and are left out.
    """
    files = {**dict(_of_package(plugin)), **dict(_of_module(plugin.entry.module.partition(".")[0]))}
    total = hashlib.sha256(f"{plugin.entry.value}\0".encode())
    for name, path in sorted(files.items()):
        if path.is_file() and not _differs_each_time(path):
            with path.open("rb") as file:
                content = hashlib.file_digest(file, "sha256").hexdigest()
            total.update(f"{name}\0{content}\0".encode("utf-8", "surrogateescape"))
    return total.hexdigest()


def _of_package(plugin: InstalledPlugin) -> Iterator[tuple[str, Path]]:
    """Return the files that the package has brought."""
    if plugin.entry.dist is not None:
        for file in plugin.entry.dist.files or ():
            yield str(file), Path(str(file.locate()))


def _of_module(name: str) -> Iterator[tuple[str, Path]]:
    """Return the files of a module that is not in another one, or of its folders. It is not imported for that."""
    spec = find_spec(name)
    if spec is None:
        raise ModuleNotFoundError(f"No module named {name!r}")
    if spec.has_location and spec.origin is not None:
        origin = Path(spec.origin)
        yield (f"{name}/{origin.name}" if spec.submodule_search_locations else origin.name), origin
    for top in spec.submodule_search_locations or ():
        yield from _below(Path(top), name, frozenset())


def _below(folder: Path, name: str, above: Set[str]) -> Iterator[tuple[str, Path]]:
    """Return the files in a folder and those in it. A link to a folder that it is in leads nowhere."""
    real = os.path.realpath(folder)
    if real in above:
        return
    for each in folder.iterdir():
        if each.is_dir():
            yield from _below(each, f"{name}/{each.name}", above | {real})
        else:
            yield f"{name}/{each.name}", each


def _differs_each_time(path: Path) -> bool:
    """Return True for notes of installers, and for compiled files that hold only while their source is as it was."""
    if path.parent.name.endswith(".dist-info"):
        return path.name in _OF_INSTALLERS
    if path.parent.name != "__pycache__" or path.suffix != ".pyc":
        return False
    with path.open("rb") as file:
        flags = int.from_bytes(file.read(8)[4:], "little")
    return flags != _UNCHECKED
