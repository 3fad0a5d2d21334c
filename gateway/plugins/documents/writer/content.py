"""The content of a document that is written from Markdown, as the ending of its name says."""

from collections.abc import Sequence
from pathlib import PurePosixPath

from agent_core.tools.files.confined import shown
from agent_core.tools.tool import ToolFailed
from gateway.plugins.documents.writer.blocks import Block, blocks_of
from gateway.plugins.documents.writer.excel import excel_file
from gateway.plugins.documents.writer.pdf import pdf_file
from gateway.plugins.documents.writer.pdf_table import MOST_COLUMNS, TooWide
from gateway.plugins.documents.writer.signs import NotShown
from gateway.plugins.documents.writer.word import word_file

MOST_CHARS = 500_000
_NAMED = 20
"""Characters that a PDF cannot show and that are named."""


def content_of(path: str, markdown: str) -> tuple[bytes, str]:
    """Return the content of the file, and what is to be told of it. Raises ToolFailed."""
    if len(markdown) > MOST_CHARS:
        raise ToolFailed(f"a document has at most {MOST_CHARS:,} characters", "write several")
    kind, blocks = PurePosixPath(path).suffix.lower(), blocks_of(markdown)
    if kind == ".docx":
        return word_file(blocks), ""
    if kind == ".pdf":
        return _pdf(blocks)
    if kind != ".xlsx":
        raise ToolFailed(f"{shown(path)} is no PDF, Word or Excel file", "end its name with .pdf, .docx or .xlsx")
    content = excel_file(blocks)
    if content is None:
        raise ToolFailed("there is no table in the Markdown", "write rows like | Item | Cost |, below | --- | --- |")
    return content, ""


def _pdf(blocks: Sequence[Block]) -> tuple[bytes, str]:
    """Return a PDF file, and what it leaves out. Raises ToolFailed."""
    try:
        pdf = pdf_file(blocks)
    except NotShown as error:
        some, advice = " ".join(error.letters[:_NAMED]), "write a Word file (.docx), which shows all letters"
        raise ToolFailed(f"no font here has these letters: {some}", advice) from error
    except TooWide as error:
        advice = "write an Excel file (.xlsx), or fewer columns"
        raise ToolFailed(f"a page has room for {MOST_COLUMNS} columns", advice) from error
    some = " ".join(pdf.left_out[:_NAMED])
    return pdf.content, f"Left out, as no font here has them: {some}. " if some else ""
