"""The structure of the code, counted from its sources and compared with the goals of the redesign.

`python -m bench house` prints the figures. `python -m bench house --check` is a gate: it fails if too many docstrings
open like a riddle.
"""

import ast
from collections.abc import Iterator

from bench.entered import figures_of, trips
from bench.figures import Figure
from bench.late_attributes import Late, late_attributes
from bench.modules import PRODUCT, REPOSITORY, Function, Module, layers, modules, text_of

RIDDLES = ("What", "Whether", "Who", "Where", "Nobody", "Whoever")
"""First words of docstrings that say neither what a thing does nor what it is."""
MOST_RIDDLES = 2.0
"""Per cent of the docstrings that may begin with one of them before `--check` fails."""
PARAMETERS = 7
"""Parameters that a function or constructor may have, `self` and `cls` apart."""
SMALL = 60
"""Lines below which a file counts as small."""
SCHEDULING = ("schedule",)
"""Packages of the gateway that are about jobs, the heartbeat and times."""
AROUND_SCHEDULING = ("commands", "store", "texts")
"""Packages in which some files are about them: those whose names begin with one of these words."""
SCHEDULING_WORDS = (
    *("cron", "firing", "heartbeat", "job", "planning", "proactive", "recurrence", "remind", "report", "schedul"),
    *("rule", "timing", "tick", "wake", "zone"),
)


def riddles(product: list[Module]) -> list[str]:
    """Return the docstrings that begin with one of `RIDDLES`."""
    return [text for text in _docstrings(product) if text.split(maxsplit=1)[0].rstrip(",.:;") in RIDDLES]


def share_of_riddles(product: list[Module]) -> float:
    """Return the share of those docstrings, in per cent."""
    return 100 * len(riddles(product)) / max(1, len(_docstrings(product)))


def failure(product: list[Module], most: float = MOST_RIDDLES) -> str | None:
    """Return one sentence that tells why the gate fails, or None if it passes."""
    share = share_of_riddles(product)
    if share <= most:
        return None
    return f"{share:.1f} % of the docstrings begin with {', '.join(RIDDLES)}; at most {most:g} % may."


async def figures() -> list[Figure]:
    return [*counted(), *figures_of(await trips())]


def counted() -> list[Figure]:
    """Return the figures that the sources tell by themselves."""
    product = modules(*PRODUCT)
    store = modules("gateway/store")
    packages = list((REPOSITORY / "gateway").glob("*/__init__.py"))
    late = late_attributes(product)
    flat = [path for path in (REPOSITORY / "gateway").glob("*.py") if path.stem != "__init__"]
    return [
        Figure("product: lines", sum(module.lines() for module in product), ""),
        Figure("code without docstrings, comments and blank lines", sum(map(Module.code_lines, product)), "", 38_300),
        Figure("files", len(product), "", 330),
        Figure(f"files of fewer than {SMALL} lines", _small_files(product), "%", 15),
        Figure("modules directly in gateway/", len(flat), "", 4),
        Figure("packages in gateway/", len(packages), "", 14),
        Figure("floors of the gateway", len(layers("gateway")), "", 8),
        Figure("scheduling: lines", sum(map(Module.lines, filter(_is_scheduling, modules("gateway")))), "", 5_500),
        Figure(f"functions with more than {PARAMETERS} parameters", sum(map(_wide_functions, product)), "", 0),
        Figure(f"classes that hold more than {PARAMETERS} values", sum(map(_wide_values, product)), ""),
        Figure("docstrings that begin with What, Whether, Who ...", len(riddles(product)), ""),
        Figure("their share of the docstrings", share_of_riddles(product), "%", 2),
        Figure(_named(late), len(late), "", 0),
        Figure("one-statement forwards in the store", sum(map(_forwards, store)), "", 0),
        Figure("columns read by position in the store", sum(map(_positional_reads, store)), "", 0),
    ]


def _docstrings(product: list[Module]) -> list[str]:
    texts = (str(text.value).strip() for module in product for text in module.docstrings)
    return [text for text in texts if text]


def _named(late: list[Late]) -> str:
    names = sorted({each.attribute for each in late})
    return f"attributes bound late: {', '.join(names)}" if names else "attributes bound late"


def _is_scheduling(module: Module) -> bool:
    _, package, *rest = module.path.relative_to(REPOSITORY).parts
    return package in SCHEDULING or (package in AROUND_SCHEDULING and rest[0].startswith(SCHEDULING_WORDS))


def _small_files(product: list[Module]) -> float:
    """Return the share of small files in per cent, empty ones apart."""
    sizes = [module.lines() for module in product if module.text]
    return 100 * sum(size < SMALL for size in sizes) / len(sizes)


def _wide_functions(module: Module) -> int:
    def parameters(arguments: ast.arguments) -> Iterator[str]:
        for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            if argument.arg not in {"self", "cls"}:
                yield argument.arg

    return sum(len(list(parameters(function.args))) > PARAMETERS for function in module.functions)


def _wide_values(module: Module) -> int:
    """Count structs and dataclasses with many fields; settings and other pydantic models are none."""
    classes = [node for node in module.nodes if isinstance(node, ast.ClassDef)]
    made = [
        node for node in classes if {"Struct", "dataclass"} & set(map(_called, (*node.bases, *node.decorator_list)))
    ]
    return sum(sum(isinstance(each, ast.AnnAssign) for each in node.body) > PARAMETERS for node in made)


def _called(node: ast.expr) -> str:
    return ast.unparse(node.func if isinstance(node, ast.Call) else node)


def _forwards(module: Module) -> int:
    """Count methods whose one statement hands nothing but their arguments to an attribute of `self`."""

    def is_forward(function: Function) -> bool:
        body = [statement for statement in function.body if not text_of(statement)]
        if len(body) != 1 or not isinstance(body[0], ast.Return | ast.Expr):
            return False
        value = body[0].value
        called = value.value if isinstance(value, ast.Await) else value
        if not isinstance(called, ast.Call) or not ast.unparse(called.func).startswith("self._"):
            return False
        arguments = {each.arg for each in (*function.args.args, *function.args.kwonlyargs)}
        handed = [*called.args, *(each.value for each in called.keywords)]
        return all(isinstance(each, ast.Name) and each.id in arguments for each in handed)

    return sum(map(is_forward, module.functions))


def _positional_reads(module: Module) -> int:
    """Count `row[0]`, `row[1]`, ... and slices of a row."""

    def is_read(node: ast.AST) -> bool:
        match node:
            case ast.Subscript(value=ast.Name(id="row"), slice=ast.Constant(value=int()) | ast.Slice()):
                return True
        return False

    return sum(map(is_read, module.nodes))
