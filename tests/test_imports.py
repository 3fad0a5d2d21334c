"""Importing has no side effects: no file, connection, thread, process or heavy package."""

from pathlib import Path

from tests.process import REPOSITORY, python

# Runs in an interpreter of its own, and prints each effect with the module whose import caused it.
PROGRAM = """
import importlib, os, sys

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_TRUNC
EFFECTS = {"socket.connect", "socket.bind", "socket.getaddrinfo", "os.mkdir", "os.rename", "os.remove", "os.rmdir",
           "os.symlink", "os.putenv", "subprocess.Popen", "os.system", "os.fork", "_thread.start_new_thread",
           "sqlite3.connect"}
current = ""

def watch(event, arguments):
    wrote = event == "open" and isinstance(arguments[2], int) and arguments[2] & WRITES and arguments[0] != os.devnull
    if wrote or event in EFFECTS:
        print(f"{current}: {event} {arguments!r}")

sys.addaudithook(watch)
for current in sys.argv[1:]:
    importlib.import_module(current)
"""
HEAVY = (
    "litellm",
    "telegram",
    "slack_bolt",
    "slack_sdk",
    "discord",
    "openai",
    "boto3",
    "psycopg",
    "dbos",
    "sqlalchemy",
)
LISTING = f"""
import importlib, sys

for name in sys.argv[1:]:
    importlib.import_module(name)
print([heavy for heavy in {HEAVY!r} if heavy in sys.modules])
"""
SDK_HOMES = (
    "channels.telegram",
    "channels.slack",
    "channels.discord",
    "gateway.store.postgres",
    "parley.testing.emulated",
    "parley.testing.emulators",
)
OF_NODES = {f"gateway.cluster.{name}" for name in ("leases", "protocols", "database_leases", "chat_owners")}
"""Modules of the cluster that need none of these packages; a process without a cluster imports the first two."""
RUNS_A_PROGRAM = {"gateway.cluster.engine"}
"""DBOS asks for the name of the machine; it is imported when a node joins a cluster."""


def module_names() -> list[str]:
    folders = (REPOSITORY / name for name in ("agent_core", "channels", "gateway", "parley"))
    files = (path for folder in folders for path in folder.rglob("*.py"))
    names = (".".join(path.relative_to(REPOSITORY).with_suffix("").parts) for path in files)
    return sorted(name.removesuffix(".__init__") for name in names)


def written_to(folder: Path) -> list[Path]:
    return list(folder.iterdir())


async def test_importing_every_module_has_no_effect(tmp_path: Path) -> None:
    names = [name for name in module_names() if name not in RUNS_A_PROGRAM]

    ran = await python("-P", "-B", "-c", PROGRAM, *names, cwd=tmp_path, environ={"HOME": str(tmp_path)})

    assert (ran.code, ran.err, ran.out) == (0, "", "")
    assert written_to(tmp_path) == []


async def test_no_sdk_is_imported_outside_of_its_home_nor_by_its_settings(tmp_path: Path) -> None:
    light = [name for name in module_names() if not name.startswith(SDK_HOMES) or name.endswith(".config")]
    light = [name for name in light if not name.startswith("gateway.cluster.") or name in OF_NODES]
    assert set(light) >= OF_NODES

    ran = await python("-P", "-B", "-c", LISTING, *light, cwd=tmp_path, environ={"HOME": str(tmp_path)})

    assert (ran.code, ran.err, ran.out.strip()) == (0, "", "[]")


async def test_the_start_imports_nothing_that_only_a_page_a_terminal_metrics_or_archives_need(tmp_path: Path) -> None:
    needed_later = {"aiohttp.web", "prompt_toolkit", "prometheus_client", "tarfile"}
    program = f"import gateway.app.start, sys; print(sorted({needed_later!r} & set(sys.modules)))"

    ran = await python("-P", "-c", program, cwd=tmp_path, environ={"HOME": str(tmp_path)})

    assert (ran.code, ran.err, ran.out.strip()) == (0, "", "[]")


async def test_telegram_is_polled_before_what_writes_answers_is_imported(
    tmp_path: Path,
) -> None:
    later = {"telegramify_markdown", "markdown_it"}
    program = (
        "import sys, channels.telegram.adapter, gateway.app.start; from gateway.app.chosen_plugins import own_plugins\n"
        f"own_plugins(); print(sorted({later!r} & set(sys.modules)))"
    )

    ran = await python("-P", "-c", program, cwd=tmp_path, environ={"HOME": str(tmp_path)})

    assert (ran.code, ran.err, ran.out.strip()) == (0, "", "[]")


async def test_what_writes_rich_messages_is_imported_only_where_a_chat_has_them(tmp_path: Path) -> None:
    writers = ["markdown_it", "telegramify_markdown"]
    program = (
        "import asyncio, sys; from channels.telegram.adapter import _get_ready\n"
        "for rich in (False, True):\n"
        f"    asyncio.run(_get_ready(rich=rich)); print([name for name in {writers!r} if name in sys.modules])"
    )

    ran = await python("-P", "-c", program, cwd=tmp_path, environ={"HOME": str(tmp_path)})

    assert (ran.code, ran.err, ran.out.splitlines()) == (0, "", [str(writers[1:]), str(writers)])


async def test_what_guesses_at_encodings_is_imported_for_the_first_file_that_needs_it(tmp_path: Path) -> None:
    program = (
        "import sys, gateway.app.start; from agent_core.encodings import read_text\n"
        "for text in (b'1 + 1', 'caf\\u00e9'.encode(), 'caf\\u00e9'.encode('cp1252')):\n"
        "    print(read_text(text).encoding, 'agent_core.guessed_text' in sys.modules)"
    )

    ran = await python("-P", "-c", program, cwd=tmp_path, environ={"HOME": str(tmp_path)})

    assert (ran.code, ran.err, ran.out.splitlines()) == (0, "", ["utf-8 False", "utf-8 False", "cp1252 True"])


async def test_plugins_build_no_models_at_the_start_but_their_settings(tmp_path: Path) -> None:
    """Building one takes half a millisecond; with `defer_build` its first use does so."""
    program = (
        "import gc; from gateway.app.chosen_plugins import own_plugins; from pydantic import BaseModel\n"
        "settings = {each.settings for each in own_plugins() if each.settings}\n"
        "models = [each for each in gc.get_objects() if isinstance(each, type) and issubclass(each, BaseModel)]\n"
        "ours = [each for each in models if each.__module__.startswith('gateway.plugins.')]\n"
        "built = [each for each in ours if each.__pydantic_complete__ and not each.__module__.endswith('.settings')]\n"
        "print(settings <= {*ours}, built)"
    )

    ran = await python("-P", "-c", program, cwd=tmp_path, environ={"HOME": str(tmp_path)})

    assert (ran.code, ran.err, ran.out.strip()) == (0, "", "True []")
