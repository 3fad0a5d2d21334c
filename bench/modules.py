"""The sources of the product, parsed."""

import ast
import tomllib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

REPOSITORY = Path(__file__).parent.parent
PRODUCT = ("gateway", "agent_core", "channels")

Function = ast.FunctionDef | ast.AsyncFunctionDef
Documented = ast.Module | ast.ClassDef | Function


@dataclass(frozen=True)
class Module:
    path: Path
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        return list(ast.walk(self.tree))

    @cached_property
    def functions(self) -> list[Function]:
        return [node for node in self.nodes if isinstance(node, Function)]

    @cached_property
    def docstrings(self) -> list[ast.Constant]:
        """Docstrings of the module, its classes, functions and attributes."""
        bodies = [node.body for node in self.nodes if isinstance(node, Documented)]
        return [text for body in bodies for statement in body if (text := text_of(statement))]

    def lines(self) -> int:
        return self.text.count("\n")

    def code_lines(self) -> int:
        """Return the number of lines that are neither blank nor part of a comment or docstring."""
        prose = {line for text in self.docstrings for line in range(text.lineno, (text.end_lineno or 0) + 1)}
        return sum(
            bool(line.strip()) and not line.lstrip().startswith("#") and number not in prose
            for number, line in enumerate(self.text.splitlines(), 1)
        )


def modules(*folders: str, root: Path = REPOSITORY) -> list[Module]:
    """Read every Python file below these folders of the repository."""
    paths = (path for folder in folders for path in sorted((root / folder).rglob("*.py")))
    return [Module(path, path.read_text("utf-8")) for path in paths]


def layers(container: str) -> list[str]:
    """Return the layers of a package that import-linter enforces, from the top; siblings are separated by a bar."""
    contracts = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    return next(contract["layers"] for contract in contracts if contract.get("containers") == [container])


def text_of(statement: ast.stmt) -> ast.Constant | None:
    match statement:
        case ast.Expr(value=ast.Constant(value=str()) as text):
            return text
    return None
