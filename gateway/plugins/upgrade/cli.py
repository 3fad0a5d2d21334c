"""The command `parley upgrade`."""

from argparse import ArgumentParser

from gateway.subcommand import Subcommand


def _upgrade(parser: ArgumentParser) -> None:
    parser.add_argument("--check", action="store_true", required=True, help="only look; nothing is changed")


SUBCOMMANDS = {"upgrade": Subcommand("look for a newer version", "gateway.plugins.upgrade.program:run", _upgrade)}
