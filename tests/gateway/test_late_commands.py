"""A command whose work is imported when it is given waits for file handles there, too."""

import errno
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

from tests.agent_core.skills.packing import tarred
from tests.gateway.conftest import StartBot
from tests.gateway.test_skill_install import shared


class NoHandle(MetaPathFinder):
    """Lets the first import of a module fail for want of a file handle."""

    def __init__(self, module: str) -> None:
        self.module = module
        self.has_refused = False

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname == self.module and not self.has_refused:
            self.has_refused = True
            raise OSError(errno.EMFILE, "Too many open files")
        return None


@contextmanager
def not_imported_at_first(module: str) -> Iterator[NoHandle]:
    finder, known = NoHandle(module), sys.modules.pop(module, None)
    sys.meta_path.insert(0, finder)
    try:
        yield finder
    finally:
        sys.meta_path.remove(finder)
        if known is not None:
            sys.modules[module] = known


async def test_an_archive_is_read_once_there_is_a_handle_to_import_what_reads_it(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await start_bot(skills=shared(tmp_path))

    with not_imported_at_first("agent_core.skills.archive") as finder:
        await bot.hears("/skill install", files={"rates.tar.gz": tarred()})
        await bot.app.settled()

    assert finder.has_refused
    [offer] = bot.screen
    assert offer.startswith("**rates** 1.2 from rates.tar.gz is not installed yet.")
