"""The files that the demo model proposes to look at."""

from pathlib import Path

WELCOME = """\
Welcome to Parley.

This is a file in the workspace of your chat. Every chat has a folder of its own; files that you send end up there,
and the model can read them.
"""

SALES = """\
month,north,south
January,120,80
February,135,95
March,128,110
April,150,131
May,171,149
June,164,172
"""


def lay_out_demo(workspace: Path) -> None:
    """Put the files there that the demo model proposes to look at, into a workspace that has none of its own yet."""
    workspace.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not any(workspace.iterdir()):
        (workspace / "welcome.txt").write_text(WELCOME, encoding="utf-8")
        (workspace / "sales.csv").write_text(SALES, encoding="utf-8")
