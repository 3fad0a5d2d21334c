"""The command `parley export`."""

from argparse import ArgumentParser

from gateway.subcommand import Subcommand


def _export(parser: ArgumentParser) -> None:
    parser.add_argument("chat", nargs="?", metavar="CHAT", help="as /status prints it, or a part that only it has")
    form = parser.add_mutually_exclusive_group()
    forms = {"md": "Markdown (default)", "json": "JSON, every message whole", "html": "a page by itself"}
    for name, about in forms.items():
        form.add_argument(f"--{name}", dest="form", action="store_const", const=name, default="md", help=about)
    parser.add_argument("--out", metavar="FILE", help="write there rather than on standard output")


SUBCOMMANDS = {
    "export": Subcommand("write out a chat, also while Parley runs", "gateway.plugins.export.program:run", _export)
}
