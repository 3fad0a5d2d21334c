"""House rules that no linter checks: sizes, names, dependencies, and figures in the docs."""

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from tests.behaviour import ROW, behaviour_rows
from tests.process import REPOSITORY

OURS = ("agent_core", "channels", "gateway", "parley", "skills")
WRITTEN = {".py", ".js", ".css", ".html", ".sh", ".sql"}
PLATFORMS = ("slack", "telegram", "discord")
VAGUE = re.compile(r"(?:(?<!Context)Manager|Helpers?|Utils?|Service|Impl)(?![a-z])|^_?(?:Base|Abstract)[A-Z]")
VAGUE_FILES = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "service", "base_classes"}
MOCKS = {"Mock", "MagicMock", "AsyncMock", "patch", "monkeypatch", "mocker"}


def files(*folders: str) -> list[Path]:
    """Return the hand-written files in these folders."""
    found = (path for folder in folders for path in (REPOSITORY / folder).rglob("*") if path.suffix in WRITTEN)
    return sorted(path for path in found if "__pycache__" not in path.parts)


def modules(*folders: str, naming: Iterable[str]) -> Iterator[tuple[str, ast.Module]]:
    """Yield the modules whose text has one of these words; to parse all of them takes seconds."""
    for path in files(*folders):
        text = path.read_text("utf-8") if path.suffix == ".py" else ""
        if any(word in text for word in naming):
            yield str(path.relative_to(REPOSITORY)), ast.parse(text)


def lines_with(pattern: str, *folders: str) -> list[str]:
    return [
        f"{path.relative_to(REPOSITORY)}:{number}: {line.strip()}"
        for path in files(*folders)
        if path != Path(__file__)
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if re.search(pattern, line)
    ]


def test_every_file_fits_in_the_head() -> None:
    code = [path for path in files(*OURS, "tests", "bench") if path.suffix != ".css"]
    sizes = {str(path.relative_to(REPOSITORY)): len(path.read_text("utf-8").splitlines()) for path in code}

    assert {path: size for path, size in sizes.items() if size > 400} == {}


def test_complexity_is_never_excused() -> None:
    """PLR0917 may be excused, because the SDK decides the positional parameters of an overridden method."""
    assert lines_with(r"noqa.*\b(C901|PLR091[1-6])", *OURS, "tests", "bench") == []
    assert lines_with(r"(ruff|flake8): noqa", *OURS, "tests", "bench") == []


SWALLOWS_ANYTHING = {
    "agent_core/agent.py": "listeners are other people's code",
    "agent_core/cancel.py": "so are callbacks of a cancellation, two of them, and what is read until one",
    "agent_core/context/compaction/compaction.py": "so is what keeps facts",
    "agent_core/loop/event_stream.py": "what is thrown into a run's stream goes to the run",
    "agent_core/loop/execution.py": "tools are other people's code, too: whatever one raises is an answer to the model",
    "agent_core/mcp/connection.py": "so is the SDK of MCP",
    "agent_core/sandbox/process.py": "so is what listens to a program's output",
    "agent_core/supervise.py": "work that must not end is started again, and its failure told",
    "channels/discord/inbound.py": "a mistake over one event ends that event alone",
    "channels/discord/modal.py": "a form that cannot be made holds back no command, which then tells what it lacks",
    "channels/web/formulas.py": "the library raises anything, and a formula that cannot be drawn holds back no answer",
    "gateway/admin/watch.py": "a screen of a plugin may raise anything, and all other screens go on",
    "gateway/app/chat_commands.py": "a change of a plugin may raise anything, and the visitor who waits is told",
    "gateway/app/gap_reader.py": "a mistake over one chat's history keeps no other from being read",
    "gateway/app/handler.py": "a zone that cannot be kept holds back no message that is stored",
    "gateway/app/local_dispatcher.py": "a chat that cannot be resumed after a move keeps no other back",
    "gateway/app/moments.py": "a plugin may raise anything while it erases, and then nothing is erased",
    "gateway/app/moves.py": "a move that a mistake keeps from being made is tried again",
    "gateway/app/plugin_commands.py": "what a command or press of a plugin raises is told to the person who waits",
    "gateway/app/plugin_models.py": "the look-up of a plugin may raise anything, and whoever sets the model is told",
    "gateway/app/plugins.py": "a plugin of others may raise anything at the start, an exit included, and is left out",
    "gateway/app/router.py": "a mistake over one event neither ends the start nor keeps others from being routed",
    "gateway/cli.py": "whatever is wrong with the commands of a plugin, all others go on, and it is told",
    "gateway/chat/replies.py": "a change of a plugin may raise anything, and the person who waits is told",
    "gateway/app/plugin_reports.py": "what makes a report in a plugin may raise anything, and who waits for it is told",
    "gateway/commands/contained.py": "whatever a command raises, the person who waits is told",
    "gateway/chat/run_end.py": "the words that are told of a failure may be what failed",
    "gateway/permissions/gates.py": "a plugin that guards calls and raises refuses the call",
    "gateway/records/plugin_failures.py": "whatever a plugin raises is kept, or told with what else is wrong in it",
    "gateway/runs/owed.py": "what a plugin that raises has written is undone, and the rest of the transaction is kept",
    "gateway/runs/handles.py": "what fails for want of a file handle is done again, and all else is raised",
    "gateway/runs/isolated_run.py": "a mistake of ours ends one task or job run, and is told",
    "gateway/schedule/jobs/firings.py": "the same, while it comes to its end",
    "gateway/chat/session.py": "a mistake of ours ends one chat's run, and is told; a note that cannot be made waits",
    "gateway/store/writer.py": "a mistake of one change ends neither the others nor the writer",
}
"""Each file that catches every exception, with the reason."""


def test_what_catches_every_exception_is_named_with_its_reason() -> None:
    def is_broad(node: ast.AST) -> bool:
        match node:
            case ast.ExceptHandler(type=caught):
                names = ast.walk(caught) if caught else [ast.Name("Exception")]
                return any(isinstance(name, ast.Name) and name.id in {"Exception", "BaseException"} for name in names)
            case ast.Call(func=ast.Name(id="suppress" | "log_errors" | "Bulkhead" as name), args=args):
                return name != "suppress" or any(isinstance(arg, ast.Name) and arg.id == "Exception" for arg in args)
            case _:
                return False

    naming = ("Exception", "except:", "log_errors", "Bulkhead")
    broad = {path for path, tree in modules(*OURS, naming=naming) for node in ast.walk(tree) if is_broad(node)}

    assert broad == SWALLOWS_ANYTHING.keys()


def test_callbacks_are_in_the_agent_core_and_bulkheads_are_ours() -> None:
    """`Bulkhead` is for the gateway's own code, `log_errors` for third-party code in the agent core."""
    callbacks = {path for path, tree in modules(*OURS, naming=["log_errors"]) if _calls_of(tree, "log_errors")}
    bulkheads = {path for path, tree in modules(*OURS, naming=["Bulkhead"]) if _calls_of(tree, "Bulkhead")}

    assert [path for path in callbacks if not path.startswith("agent_core/")] == []
    assert [path for path in bulkheads if not path.startswith("gateway/")] == ["agent_core/supervise.py"]


def _calls_of(tree: ast.Module, name: str) -> bool:
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    return any(isinstance(call.func, ast.Name) and call.func.id == name for call in calls)


def test_nothing_is_left_for_later() -> None:
    assert lines_with(r"\b(TODO|FIXME|XXX|HACK|NotImplementedError)\b", *OURS, "tests", "bench") == []


def test_names_say_what_things_are() -> None:  # D-19, C-31
    classes = re.compile(r"^\s*class (\w+)", re.MULTILINE)
    vague = [
        f"{path.relative_to(REPOSITORY)}: {name}"
        for path in files(*OURS, "tests", "bench")
        if path.suffix == ".py"
        for name in (path.stem, *classes.findall(path.read_text("utf-8")))
        if VAGUE.search(name) or name in VAGUE_FILES
    ]

    assert vague == []


def names_a_platform(node: ast.AST) -> bool:
    return any(
        isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value.lower().startswith(PLATFORMS)
        for part in ast.walk(node)
    )


def decides(node: ast.AST) -> bool:
    """Return True for nodes that decide: a comparison, a case, or a test of how a text begins or ends."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute) and node.func.attr in {"startswith", "endswith", "removeprefix"}
    return isinstance(node, ast.Compare | ast.MatchValue)


def test_no_decision_names_a_platform_outside_its_folder() -> None:
    """Platform differences are values in `Limits` or protocols of their own."""
    found = [
        f"{path}:{node.lineno}"
        for path, tree in modules(*OURS, naming=(*PLATFORMS, *map(str.capitalize, PLATFORMS)))
        if not path.startswith(tuple(f"channels/{platform}/" for platform in PLATFORMS))
        for node in ast.walk(tree)
        if isinstance(node, ast.expr | ast.MatchValue) and decides(node) and names_a_platform(node)
    ]

    assert found == []


LATE = {
    "agent_core/encodings.py",
    "agent_core/models/litellm_client.py",
    "agent_core/models/selection.py",
    "channels/telegram/adapter.py",
    "gateway/commands/skill_archives.py",
    "gateway/upkeep/forgetting.py",
    "gateway/upkeep/nightly_backup.py",
}
"""Files that import something inside a function, as starts would wait for it: litellm takes 2 s and 150 MB."""


def test_few_files_import_inside_functions() -> None:
    """ruff refuses that elsewhere; plugins may import there what they need rarely."""
    late = lines_with(r"noqa.*\bPLC0415", *OURS, "tests", "bench")

    assert {line.partition(":")[0] for line in late} == LATE
    assert lines_with(r"\bTYPE_CHECKING\b", *OURS, "tests", "bench") == []


def test_mocks_stay_rare() -> None:
    tests = lines_with(r"^\s*(async )?def test_", "tests")
    mocks = [
        node
        for _, tree in modules("tests", naming=MOCKS)
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and node.id in MOCKS
    ]

    assert len(mocks) <= 0.05 * len(tests), [f"line {mock.lineno}: {mock.id}" for mock in mocks]


def rows_named_in(*folders: str) -> set[str]:
    return {row for path in files(*folders) for row in ROW.findall(path.read_text("utf-8"))}


def test_every_behaviour_row_that_is_named_exists() -> None:
    assert rows_named_in(*OURS, "tests", "bench") - {row.name for row in behaviour_rows()} == set()


def count_lines(folder: str) -> int:
    return sum(len(path.read_text("utf-8").splitlines()) for path in files(folder) if path.suffix == ".py")


def count_tests(folder: str) -> int:
    return sum(len(re.findall(r"^\s*(?:async )?def test_", path.read_text("utf-8"), re.M)) for path in files(folder))


COUNTS: dict[str, Callable[[str], int]] = {
    "lines": count_lines,
    "files": lambda folder: sum(path.suffix == ".py" for path in files(folder)),
    "tests": count_tests,
}
CLAIM = re.compile(r"(\d[\d,]*)[^\d\n]{0,40}?<!-- counted: (\w+) of ([\w/]+) -->")


@pytest.mark.parametrize("page", ["README.md", "ARCHITECTURE.md"])
def test_numbers_in_the_pages_are_true(page: str) -> None:
    """A figure such as `1,800 lines <!-- counted: lines of agent_core -->` may be off by a tenth."""
    path = REPOSITORY / page
    text = path.read_text("utf-8") if path.exists() else ""

    assert len(CLAIM.findall(text)) == text.count("<!-- counted:")
    for number, what, folder in CLAIM.findall(text):
        assert int(number.replace(",", "")) == pytest.approx(COUNTS[what](folder), rel=0.1), (what, folder)


def test_a_decision_fits_on_one_page() -> None:
    records = sorted((REPOSITORY / "docs" / "adr").glob("*.md"))

    assert [path.name for path in records if len(path.read_text("utf-8").splitlines()) > 40] == []
    assert [path.name[:4] for path in records] == [f"{number:04}" for number in range(1, len(records) + 1)]


def test_paths_in_the_documents_exist() -> None:
    pages = [*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/**/*.md")]
    named = re.compile(r"`((?:gateway|agent_core|channels|parley|tests|bench)/[a-z_/]+(?:\.py)?)`")

    missing = [
        f"{page.name}: {path}"
        for page in pages
        if page.name != "CHANGELOG.md"
        for path in named.findall(page.read_text("utf-8"))
        if not (REPOSITORY / path).exists()
    ]

    assert missing == []
