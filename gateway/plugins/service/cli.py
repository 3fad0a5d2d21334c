"""The command `parley service`."""

from argparse import ArgumentParser

from gateway.subcommand import Subcommand


def _service(parser: ArgumentParser) -> None:
    parser.add_argument("action", choices=("install", "uninstall", "status"))


SUBCOMMANDS = {
    "service": Subcommand(
        "run Parley as a systemd service of this user", "gateway.plugins.service.program:run", _service
    )
}
