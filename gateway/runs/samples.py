"""Sample files for trying out what answers, in the folders of chats."""

from collections.abc import Mapping
from pathlib import Path


def lay_out(samples: Mapping[str, str], workspace: Path) -> list[str]:
    """Write the sample files into a workspace if it is empty. Return the names of those written."""
    workspace.mkdir(mode=0o700, parents=True, exist_ok=True)
    if any(workspace.iterdir()):
        return []
    for name, text in samples.items():
        (workspace / name).parent.mkdir(mode=0o700, exist_ok=True)
        (workspace / name).write_text(text, encoding="utf-8")
    return list(samples)
