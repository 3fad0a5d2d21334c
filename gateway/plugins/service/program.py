"""`parley service install|uninstall|status`: Parley as a systemd service of this user."""

import hashlib
import shutil
import subprocess
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path

from gateway.errors import ParleyError
from gateway.security.packages import ROOT
from gateway.security.printing import print_pieces
from gateway.security.private_file import write_private
from gateway.security.secrets import Secrets
from gateway.settings.files import home_folder

NAME = "parley.service"
LINK = Path("default.target.wants") / NAME
_MODULE = ("-P", "-m", "gateway.cli", "run")
_FORBIDDEN = frozenset("\"'\\\n\r")
"""Characters that systemd takes in no program's path."""
_MARK = "# Written by `parley service install`. Digest of all below: "
_UNIT = """\
[Unit]
Description=Parley, an AI agent that people message where they already talk

[Service]
Type=exec
Environment={environment}
ExecStart={command}
# 2: a setting is wrong. Another start would not help.
Restart=on-failure
RestartSec=5
RestartPreventExitStatus=2
# Only Parley itself is told to stop: it lets running answers come to a safe point, for 20 s (PARLEY_DRAIN_SECONDS).
KillMode=mixed
TimeoutStopSec=30
# What Parley's own sandbox for programs works under. RestrictNamespaces= would take its namespaces away.
NoNewPrivileges=yes
UMask=0077
LimitCORE=0

[Install]
WantedBy=default.target
"""


class State(StrEnum):
    """The state of the file at the unit's place."""

    MISSING = "is not installed"
    CURRENT = "is installed"
    OUTDATED = "is installed as an earlier version or another home needs it"
    CHANGED = "was changed by hand"


def run(environ: Mapping[str, str], cwd: Path, given: Namespace) -> int:
    """Carry out the subcommand. Return the exit code; raise ParleyError."""
    if not sys.platform.startswith("linux"):
        raise ParleyError("parley service writes a unit for systemd, which this system does not have.")
    file = unit_file(environ)
    text = unit(home_folder(environ, cwd).resolve(), ROOT)
    lines = {"install": install, "uninstall": uninstall, "status": status}[given.action](file, text)
    print_pieces((f"{line}\n" for line in lines), Secrets())
    return 1 if given.action == "status" and not _is_active() else 0


def unit_file(environ: Mapping[str, str]) -> Path:
    """Return the path of the unit."""
    home = Path(environ["HOME"]) if environ.get("HOME") else Path.home()
    config = environ.get("XDG_CONFIG_HOME", "")
    return (Path(config) if config.startswith("/") else home / ".config") / "systemd" / "user" / NAME


def unit(home: Path, root: Path) -> str:
    """Return the text of the unit for this home and this installation. Raises ParleyError for paths with line ends."""
    script = root / "run"
    program, *arguments = ["/bin/sh", str(script)] if script.exists() else [sys.executable, *_MODULE]
    if any(end in part for part in (*arguments, str(home)) for end in "\n\r") or set(program) & _FORBIDDEN:
        raise ParleyError("systemd takes no line ends and quotes in the path of a program: move Parley or its home.")
    # In arguments, systemd also replaces $NAME.
    written = " ".join([_quoted(program), *(_quoted(argument).replace("$", "$$") for argument in arguments)])
    body = _UNIT.format(environment=_quoted(f"PARLEY_HOME={home}"), command=written)
    return f"{_MARK}{_digest(body)}\n{body}"


def install(file: Path, text: str) -> Iterator[str]:
    """Write the unit unless it is there already; one that was changed by hand is kept."""
    state = state_of(file, text)
    if state is State.CHANGED:
        raise ParleyError(f"{file} was changed by hand and is kept. To have it written anew, move it away first.")
    if state is State.CURRENT:
        yield f"{file} is there already, as it should be."
    else:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_private(file.resolve(), [text])
        yield f"{'Wrote' if state is State.MISSING else 'Replaced'} {file}"
    yield "Next:"
    yield "  systemctl --user daemon-reload"
    yield f"  systemctl --user {'enable --now' if state is not State.OUTDATED else 'restart'} parley"
    yield "  loginctl enable-linger    # so that it also runs while you are not logged in"
    yield "Log: journalctl --user -u parley -f"


def uninstall(file: Path, text: str) -> Iterator[str]:
    """Remove the unit and its link; one that was changed by hand is kept."""
    state = state_of(file, text)
    if state is State.CHANGED:
        raise ParleyError(f"{file} was changed by hand and is kept. Remove it yourself if you do not need it.")
    if state is State.MISSING:
        yield f"{file} is not there: nothing to remove."
        return
    file.unlink()
    (file.parent / LINK).unlink(missing_ok=True)
    yield f"Removed {file}"
    yield "Next, if it still runs:"
    yield "  systemctl --user stop parley"
    yield "  systemctl --user daemon-reload"


def status(file: Path, text: str) -> Iterator[str]:
    """Tell whether the unit is installed and whether it runs."""
    state = state_of(file, text)
    yield f"{file} {state}."
    if state is State.MISSING:
        yield "parley service install writes it."
    elif state is State.OUTDATED:
        yield "parley service install brings it up to date."
    yield "The service runs." if _is_active() else "The service does not run, or systemd cannot be asked."


def state_of(file: Path, text: str) -> State:
    """Compare what is at the place of the unit with what should be there. Raises ParleyError if it cannot be read."""
    try:
        found = file.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return State.MISSING
    except OSError as error:
        raise ParleyError(f"{file} cannot be read ({error.strerror}).") from error
    if found == text:
        return State.CURRENT
    first, _, body = found.partition("\n")
    return State.OUTDATED if first == f"{_MARK}{_digest(body)}" else State.CHANGED


def _quoted(text: str) -> str:
    """Quote a word for a unit, in which % begins a specifier."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'


def _digest(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()


def _is_active() -> bool:
    systemctl = shutil.which("systemctl")
    if systemctl is None:
        return False
    asked = subprocess.run(  # noqa: S603 - a fixed command
        [systemctl, "--user", "--quiet", "is-active", NAME], capture_output=True, check=False, timeout=10
    )
    return asked.returncode == 0
