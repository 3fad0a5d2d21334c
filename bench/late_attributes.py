"""Attributes bound late: an object gets a collaborator by an assignment from outside, after its construction.

`wakes.accept = handler.accept` binds late if the class of `wakes` keeps a place for it: `self.accept: Accept | None =
None`, or a function that does nothing. A collaborator is a function, or an object of one of our classes that is not
data: no dataclass, struct, pydantic model, enum or exception. Attributes are matched by their name; a lambda always
counts. Frozen classes keep no place, since their attributes cannot be assigned.
"""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bench.modules import Module

DATA = {"Struct", "BaseModel", "Enum", "IntEnum", "StrEnum", "NamedTuple", "TypedDict", "Exception", "ValueError"}
FUNCTIONS = {"Callable", "Awaitable"}


@dataclass(frozen=True)
class Late:
    path: str
    line: int
    attribute: str


def late_attributes(product: Sequence[Module]) -> list[Late]:
    """Return the assignments that bind late, in the order of the files."""
    classes = [node for module in product for node in module.nodes if isinstance(node, ast.ClassDef)]
    collaborators = FUNCTIONS | _aliases(product) | _without_data(classes)
    places = {
        name
        for node in classes
        if not _is_frozen(node)
        for name, annotation in _places(node)
        if not collaborators.isdisjoint(_names(annotation))
    }
    return [
        Late(str(module.path), target.lineno, target.attr)
        for module in product
        for target, value in _assignments(module.tree)
        if isinstance(value, ast.Lambda) or (target.attr in places and not _is_none(value))
    ]


def _assignments(tree: ast.Module) -> Iterator[tuple[ast.Attribute, ast.expr]]:
    """Yield the attributes of objects other than `self` and `cls` that are assigned, each with its value."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                for each in target.elts if isinstance(target, ast.Tuple) else [target]:
                    if isinstance(each, ast.Attribute) and ast.unparse(each.value) not in {"self", "cls"}:
                        yield each, node.value


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _aliases(product: Sequence[Module]) -> set[str]:
    """Return the names of types such as `Tell = Callable[[str], None]`."""
    return {
        target.id
        for module in product
        for node in module.tree.body
        if isinstance(node, ast.Assign) and not FUNCTIONS.isdisjoint(_names(node.value))
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _without_data(classes: Sequence[ast.ClassDef]) -> set[str]:
    """Return the names of the classes that are not data, nor derived from any."""
    data = {node.name for node in classes if any("dataclass" in _names(each) for each in node.decorator_list)} | DATA
    while more := {node.name for node in classes if any(_names(base) & data for base in node.bases)} - data:
        data |= more
    return {node.name for node in classes} - data


def _is_frozen(node: ast.ClassDef) -> bool:
    return any("frozen=True" in ast.unparse(each) for each in (*node.decorator_list, *node.keywords))


def _places(node: ast.ClassDef) -> Iterator[tuple[str, ast.expr]]:
    """Yield the attributes that begin as None or as a function, each with its annotation."""
    for each in ast.walk(node):
        match each:
            case ast.AnnAssign(
                target=ast.Attribute(value=ast.Name(id="self"), attr=name) | ast.Name(id=name),
                annotation=kind,
                value=ast.Constant(value=None) | ast.Name() | ast.Lambda(),
            ):
                yield name, kind


def _names(node: ast.expr) -> set[str]:
    """Return the names in an expression, also in an annotation that is a string."""
    names = set()
    for each in ast.walk(node):
        match each:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Constant(value=str() as name):
                names.add(name)
    return names
