"""Importing is free of effects: no file written, no connection, no thread, no process, and no heavy package."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent

# Runs in an interpreter of its own. Each effect is printed with the module whose import caused it.
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
for heavy in ("litellm", "slack_bolt", "slack_sdk", "discord", "openai", "boto3"):
    if heavy in sys.modules:
        print(f"{heavy} was imported")
"""


def module_names() -> list[str]:
    paths = (path for folder in ("agent_core", "channels", "gateway") for path in (ROOT / folder).rglob("*.py"))
    return sorted(".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in paths)


def test_importing_every_module_has_no_effect(tmp_path: Path) -> None:
    ran = subprocess.run(  # noqa: S603 - our own interpreter on our own program
        [sys.executable, "-P", "-B", "-c", PROGRAM, *module_names()],
        env={"PYTHONPATH": str(ROOT), "HOME": str(tmp_path), "PATH": os.environ["PATH"]},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )

    assert (ran.returncode, ran.stderr, ran.stdout) == (0, "", "")
    assert list(tmp_path.iterdir()) == []
