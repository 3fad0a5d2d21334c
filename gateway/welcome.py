"""The file that the demo model proposes to read."""

from pathlib import Path

WELCOME = """\
Welcome to Parley.

This is a file in the workspace of your chat. Every chat has a folder of its own; files that you send end up there,
and the model can read them.
"""


def lay_out_demo(workspace: Path) -> None:
    """Put the file there that the demo model proposes to read, into a workspace that has none of its own yet."""
    workspace.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not any(workspace.iterdir()):
        (workspace / "welcome.txt").write_text(WELCOME, encoding="utf-8")
