"""The reader of documents imports only what the interpreter in the sandbox finds."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from gateway.plugins.documents import reader
from gateway.plugins.documents.sandboxed import PACKAGES
from tests.process import REPOSITORY

OURS = (reader.__name__, "agent_core")


def is_ours(name: str) -> bool:
    return any(f"{name}.".startswith(f"{each}.") for each in OURS)


def imported_by(module: str) -> Iterator[str]:
    """Yield the names that a module of ours imports anywhere, also within its functions; none for other names."""
    place = REPOSITORY.joinpath(*module.split("."))
    for source in (place.with_suffix(".py"), place / "__init__.py"):
        for node in ast.walk(ast.parse(source.read_text("utf-8"))) if is_ours(module) and source.exists() else ():
            match node:
                case ast.Import(names=names):
                    yield from (each.name for each in names)
                case ast.ImportFrom(module=str(package), names=names):
                    yield package
                    yield from (f"{package}.{each.name}" for each in names)


def test_the_reader_and_all_of_ours_that_it_imports_need_no_other_package() -> None:
    waiting = [f"{reader.__name__}.{path.stem}" for path in Path(reader.__file__).parent.glob("*.py")]
    found: set[str] = set()
    while waiting:
        if (name := waiting.pop()) not in found:
            found.add(name)
            waiting += imported_by(name)

    packages = {name.partition(".")[0] for name in found if not is_ours(name)}
    assert "agent_core.encoding_candidates" in found
    assert packages - sys.stdlib_module_names <= {*PACKAGES}
