"""Writes docs/public.md, the names that authors of plugins and channels may import: `python -m bench public`.

Their sentences are the first ones of their docstrings.
"""

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.modules import REPOSITORY, text_of

PAGE = REPOSITORY / "docs" / "public.md"
MODULES: Mapping[str, str] = {
    "parley": "For plugins",
    "parley.channels": "For channels",
}
"""The public modules with the headings of their tables."""
TEXT = """\
# What authors may import

These names stay as they are until a version says otherwise in its [changelog](../CHANGELOG.md). [Plugins](plugins.md)
leads through them. Everything else in Parley's packages may change in any version. The page is made by
`python -m bench public`.
"""


@dataclass(frozen=True)
class Name:
    """A public name, and the module that defines it under its own name there."""

    public: str
    module: str
    original: str

    @property
    def sentence(self) -> str | None:
        """The first sentence of its docstring, or None if it has none."""
        text = _docstring(ast.parse(_file_of(self.module).read_text("utf-8")), self.original)
        return text and _first_sentence(text)


def names(module: str) -> list[Name]:
    """Return the names that a public module has from others, in the order of the alphabet."""
    tree = ast.parse(_file_of(module).read_text("utf-8"))
    imports = (node for node in tree.body if isinstance(node, ast.ImportFrom))
    found = [Name(each.asname or each.name, node.module or "", each.name) for node in imports for each in node.names]
    return sorted(found, key=lambda name: name.public.casefold())


def page() -> str:
    """Return the text of the page."""
    return TEXT + "".join(_part(module, about) for module, about in MODULES.items())


def _part(module: str, about: str) -> str:
    return f"\n## {about}\n\n`from {module} import ...`\n\n{_table(module)}"


def _table(module: str) -> str:
    lines = [f"| `{name.public}` | {name.sentence or ''} |\n" for name in names(module)]
    return "".join(["| name | what it is |\n", "|---|---|\n", *lines])


def _file_of(module: str) -> Path:
    path = REPOSITORY.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _docstring(tree: ast.Module, name: str) -> str | None:
    """Return the docstring of a class, a function or a value of a module."""
    for number, node in enumerate(tree.body):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
            return ast.get_docstring(node)
        if name in _assigned(node) and number + 1 < len(tree.body) and (text := text_of(tree.body[number + 1])):
            return str(text.value)
    return None


def _assigned(node: ast.stmt) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _first_sentence(text: str) -> str:
    paragraph = " ".join(text.strip().split("\n\n")[0].split())
    return re.split(r"(?<=[.]) (?=[A-Z`])", paragraph)[0].replace("|", "\\|")
