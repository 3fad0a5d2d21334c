"""Recording of file changes for undo."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from agent_core.tools import ToolContext, ToolFailed
from agent_core.workspace.keeper import CannotKeep


@contextmanager
def keeping(context: ToolContext, tool: str, names: Sequence[str], size: int) -> Iterator[None]:
    """Record the change of one file to this size, made in the `with` block. Blocks. Raises ToolFailed if that is not
    possible."""
    try:
        with context.keeper.file(context.author(tool), "/".join(names), size):
            yield
    except CannotKeep as error:
        raise ToolFailed(f"the file was not changed: {error}", "tell the person; deleting large files helps") from error
