"""The command `parley audit`."""

from argparse import ArgumentParser

from gateway.subcommand import Subcommand


def _audit(parser: ArgumentParser) -> None:
    parser.add_argument("--verify", action="store_true", help="look for changed, removed and cut-off entries")


SUBCOMMANDS = {
    "audit": Subcommand("show the last actions, and who allowed them", "gateway.plugins.audit.program:audit", _audit)
}
