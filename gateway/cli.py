"""The command line: `parley`, and `parley COMMAND` with one of `COMMANDS` or of those that plugins add.

Errors that the user can fix print one sentence on standard error and exit with a code, mostly 2; a traceback is a bug.
"""

import argparse
import gc
import importlib
import os
import pkgutil
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import cast

from gateway import plugins
from gateway.errors import INTERRUPTED, ParleyError
from gateway.subcommand import Run, RunGiven, Subcommand, subcommands_in


def _backup(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a name that is not there yet, such as parley.zip")
    parser.add_argument("--files", action="store_true", help="with the files of chats")
    parser.add_argument("--secrets", action="store_true", help="with .env and its keys and tokens")


def _restore(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", metavar="FILE", help="a backup; without it: a list")


def _connect(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=("discord", "slack", "telegram", "model"))


def _migrate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--to",
        type=_place,
        required=True,
        metavar="PLACE",
        help="postgresql://user@host/database, which has to be empty, or sqlite for the file in the home",
    )


def _place(text: str) -> str:
    if text != "sqlite" and not text.startswith(("postgresql://", "postgres://")):
        raise argparse.ArgumentTypeError(f"{text!r} is neither sqlite nor an address that begins with postgresql://")
    return text


def _plugin(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="action")
    actions.add_parser("list", help="show those that are there, and which the next start loads")
    new = actions.add_parser("new", help="write the package of a new one, with a command, a tool and a test")
    new.add_argument("name", metavar="NAME")
    new.add_argument("--folder", type=Path, metavar="FOLDER", help="write it there; without it: to parley-NAME here")
    check = actions.add_parser("check", help="import one, and say what it adds, or what is wrong with it")
    check.add_argument("name", metavar="NAME")


COMMANDS: Mapping[str, Subcommand] = {
    "run": Subcommand("start Parley with the page and every channel that is set up (default)", "gateway.app.start:run"),
    "chat": Subcommand("talk to Parley in this terminal; if it runs, join it", "gateway.app.terminal:chat"),
    "connect": Subcommand(
        "connect a platform or a model, step by step, also while Parley runs", "gateway.app.connect:run", _connect
    ),
    "link": Subcommand("print a link that opens the page of the running Parley", "gateway.web.link_socket:run"),
    "doctor": Subcommand("look for what is wrong, and say how to put it right", "gateway.app.doctor:run"),
    "nodes": Subcommand("show the machines that share the database", "gateway.upkeep.nodes_command:run"),
    "plugin": Subcommand("list the plugins, check one, or write a new one", "gateway.app.plugin_command:run", _plugin),
    "backup": Subcommand(
        "put what is kept into one file, also while Parley runs", "gateway.upkeep.backup_command:backup", _backup
    ),
    "restore": Subcommand("bring a backup back", "gateway.upkeep.backup_command:bring_back", _restore),
    "migrate": Subcommand("move the store to PostgreSQL, or back to a file", "gateway.upkeep.migration:run", _migrate),
}
OfOthers = Callable[[Mapping[str, str], Path], tuple[Mapping[str, Mapping[str, Subcommand]], Mapping[str, str]]]
OF_OTHERS = "gateway.app.plugin_subcommands:of_others"
PLUGINS = "parley.plugins"
"""The group of entry points of plugins of others."""
VERSION = "gateway.security.packages:version"


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code: 0, 1 if a check found a problem, 2 for an expected error, 130 after Ctrl-C.

    75 is an error that may pass by itself. Commands of plugins may have more.
    """
    try:
        words = sys.argv[1:] if arguments is None else arguments
        given = _parser(commands := _commands(words)).parse_args(words)
        command = commands[given.command or "run"]
        environ = _environ(given.config)
        os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # it looks through all packages for some
        gc.disable()  # imports create many objects and drop few; `launch` enables it again
        _import_structlog()
        if command.takes is not None:
            return cast(RunGiven, _named(command.function))(environ, Path.cwd(), given)
        return cast(Run, _named(command.function))(environ, Path.cwd())
    except ParleyError as error:
        sys.stderr.write(f"parley: {error.sentence}\n")
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED


def _environ(config: Sequence[str] | None) -> Mapping[str, str]:
    return {**os.environ, "PARLEY_CONFIG": os.pathsep.join(config)} if config else os.environ


def _commands(words: Sequence[str]) -> Mapping[str, Subcommand]:
    """Return the commands among which that of these words is: those of plugins only if it is none of Parley itself.

    To find those of others, where packages of others are installed, the settings have to be read, which takes ten times
    as long as the rest.
    """
    config = list[str]()
    wanted = _wanted(words, config)
    if wanted is None or wanted in COMMANDS:
        return COMMANDS
    found = _ours()
    if wanted in found or not importlib.import_module("importlib.metadata").entry_points(group=PLUGINS):
        return found
    _import_structlog()
    try:
        others, failed = cast(OfOthers, _named(OF_OTHERS))(_environ(config), Path.cwd())
    except ParleyError:  # the help needs no settings, and a command that there is says what is wrong with them
        return found
    reasons = dict(failed)
    for plugin, added in others.items():
        if twice := sorted(found.keys() & added.keys()):
            reasons[plugin] = f"there is `parley {twice[0]}` already"
        else:
            found.update(added)
    if wanted and wanted not in found:
        _tell(reasons)
    return found


def _tell(reasons: Mapping[str, str]) -> None:
    """Tell why plugins add no commands, by their names."""
    lines = [f"parley: The plugin {name} adds no commands: {why}\n" for name, why in reasons.items()]
    sys.stderr.write("".join(lines))


def _wanted(words: Sequence[str], config: list[str]) -> str | None:
    """Return the command that is given, "" for the help, or None. Files behind `--config` are put into `config`."""
    rest = iter(words)
    for word in rest:
        if word == "--config":
            config.append(next(rest, ""))
        elif word.startswith("--config="):
            config.append(word.partition("=")[2])
        elif word in {"-h", "--help"}:
            return ""
        elif not word.startswith("-"):
            return word
    return None


def _ours() -> dict[str, Subcommand]:
    """Return our commands: behind those of the core those of our plugins, by the names of their folders.

    A plugin whose commands cannot be used is left out, and told on standard error.
    """
    found, reasons = dict(COMMANDS), dict[str, str]()
    for folder in sorted(each.name for each in pkgutil.iter_modules(plugins.__path__) if each.ispkg):
        if find_spec(f"{plugins.__name__}.{folder}.cli") is None:
            continue
        try:
            added = subcommands_in(f"{plugins.__name__}.{folder}.cli")
        except (Exception, SystemExit) as error:  # noqa: BLE001 (whatever is wrong there, other commands go on)
            reasons[folder] = f"{type(error).__name__}: {' '.join(str(error).split())}; see its `cli.py`"
            continue
        if twice := sorted(found.keys() & added.keys()):
            reasons[folder] = f"there is `parley {twice[0]}` already; rename it in its `cli.py`"
        else:
            found.update(added)
    _tell(reasons)
    return found


def _import_structlog() -> None:
    """Import structlog without rich, which takes 40 ms and 5 MB for tracebacks that are not used here."""
    if "rich" in sys.modules:
        return
    sys.modules["rich"] = None  # type: ignore[assignment]  # the documented way to make an import fail
    try:
        importlib.import_module("structlog")
    finally:
        del sys.modules["rich"]


def _named(function: str) -> object:
    module, _, name = function.partition(":")
    return getattr(importlib.import_module(module), name)


def _parser(commands: Mapping[str, Subcommand]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="parley",
        description="An AI agent that people message where they already talk.",
        epilog="Settings: the environment, and .env and parley.toml in ~/.parley (PARLEY_HOME).",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="say which version this is")
    parser.add_argument(
        "--config",
        action="append",
        metavar="FILE",
        help="read this .env or .toml file instead of the one in PARLEY_HOME; may be given once for each",
    )
    subparsers = parser.add_subparsers(dest="command", metavar="command")
    for name, command in commands.items():
        about = f"{command.about[0].upper()}{command.about[1:]}."
        its_parser = subparsers.add_parser(name, help=command.about, description=about)
        if command.takes is not None:
            command.takes(its_parser)
    return parser


class _Version(argparse.Action):
    """Prints the version, which is read only if asked for."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        sys.stdout.write(f"parley {cast(Callable[[], str], _named(VERSION))()}\n")
        parser.exit()


if __name__ == "__main__":
    sys.exit(main())
