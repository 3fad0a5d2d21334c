"""Documents that come with a message: their first pages are told to the model with it."""

from pathlib import PurePosixPath

from channels.base import ChatKey
from channels.text import literal
from gateway.chat.received_files import FileContents, ReceivedFile
from gateway.plugins.documents.reader.job import Job
from gateway.plugins.documents.reader.page import NO_TEXT, Wish
from gateway.plugins.documents.sandboxed import DocumentReader, NotRead
from gateway.plugins.documents.telling import pages_in, why_not
from gateway.texts.say import Language, say

ENDINGS = frozenset(
    (
        *(".pdf", ".docx", ".docm", ".xlsx", ".xlsm", ".pptx", ".pptm", ".eml", ".zip"),
        *(".doc", ".xls", ".ppt"),  # of which is told that they are old
    )
)
"""Of names of documents."""
TABLES = frozenset((".csv", ".tsv"))
"""Of names of tables of text, which `read_file` reads too."""
SECONDS = 8.0
_FOR_THE_REST = 1_000
"""Characters for what is told of a document beside its pages."""


async def contents(
    reader: DocumentReader, chat: ChatKey, file: ReceivedFile, room: int, language: Language
) -> FileContents | None:
    """Return the first pages of a document, or why it cannot be read; None if it is no document."""
    is_table = PurePosixPath(file.name).suffix.lower() in TABLES
    if not (_is_document(file) or (is_table and reader.can_read)):
        return None
    try:
        job = Job(file.name, Wish(), room=max(1, room - _FOR_THE_REST), seconds=SECONDS)
        found = await reader.read(file.content, job, chat)
    except NotRead as error:
        if is_table:
            return None
        shown = f"> {why_not(error, literal(file.name), language)}"
        return FileContents(why_not(error, file.name, "en"), shown)
    is_scan = bool(found.pages) and all(each.text == NO_TEXT for each in found.pages)
    shown = f"> {say('documents_no_text', language, name=literal(file.name))}" if is_scan else ""
    return FileContents(pages_in(found), shown)


def _is_document(file: ReceivedFile) -> bool:
    if file.content.startswith(b"%PDF-") or "officedocument" in file.attachment.mime_type:
        return True
    return PurePosixPath(file.name).suffix.lower() in ENDINGS
