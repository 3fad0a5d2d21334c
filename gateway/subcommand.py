"""A command of the program, such as `parley replay`.

A module `cli` in the folder of a plugin adds some: its `SUBCOMMANDS` are by name. That of one of ours is imported at
each start of the program, also to print the help, so it must import nothing but this and the standard library. That of
a plugin of others, in the package of its class, is imported for the help, and when a command is given that is none of
ours, if the next start would load the plugin. If it cannot be imported or used, the plugin adds no commands.
"""

import importlib
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

Run = Callable[[Mapping[str, str], Path], int]
"""Takes the environment and the current folder, returns the exit code."""
RunGiven = Callable[[Mapping[str, str], Path, Namespace], int]
"""A `Run` that also takes the command's parsed arguments."""


@dataclass(frozen=True)
class Subcommand:
    """A command of the program, found by its name."""

    about: str
    """A few words for the help."""
    function: str
    """Location `module:function` of its `Run`, or of its `RunGiven` if it takes arguments.

    The module is imported when the command is run: importing the gateway takes ten times as long as printing the help.
    """
    takes: Callable[[ArgumentParser], None] | None = None
    """Adds the command's arguments to its parser."""


def subcommands_in(module: str) -> Mapping[str, Subcommand]:
    """Return the commands of a module `cli`, which a parser and the help can take. Raises whatever is wrong with it."""
    added: Mapping[str, Subcommand] = importlib.import_module(module).SUBCOMMANDS
    for name, subcommand in added.items():
        if not isinstance(name, str) or not isinstance(subcommand, Subcommand):
            raise TypeError(f"{name} is no Subcommand")
        if not subcommand.about % {"prog": name}:  # as the help formats it
            raise ValueError(f"{name} has no words for the help")
        if subcommand.takes is not None:
            subcommand.takes(ArgumentParser(prog=name))
    return dict(added)
