"""The plugin of documents: it reads those that are sent, and has tools that read, search and write them."""

from collections.abc import Sequence

from agent_core.tools.tool import Tool
from gateway.chat.received_files import FileContents, ReceivedFile
from gateway.plugin import Core, Plugin
from gateway.plugins.documents.received import contents
from gateway.plugins.documents.sandboxed import DocumentReader
from gateway.plugins.documents.texts import TEXTS
from gateway.plugins.documents.tools import document_tools, see_page_tool
from gateway.plugins.documents.writing import document_writer
from gateway.store.rows import InboxItem, Run
from gateway.texts.say import Language


class Documents(Plugin):
    """Reads documents that are sent, and has tools for them."""

    name = "documents"
    texts = TEXTS
    tool_names = frozenset({"read_document", "search_document", "see_page", "write_document"})

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self._reader = DocumentReader(core.sandbox, core.settings.now.local / "scratch")

    def tools(self) -> Sequence[Tool]:
        if not self._reader.can_read:
            return (document_writer(),)
        see_page = see_page_tool(self._reader, vision=lambda: self.core.models.now.sees)
        return (*document_tools(self._reader), see_page, document_writer())

    async def read(
        self, item: InboxItem, run: Run | None, file: ReceivedFile, room: int, language: Language
    ) -> FileContents | None:
        return await contents(self._reader, item.event.chat, file, room, language)


PLUGIN = Documents
