"""Documents that people send are read wherever they send them."""

import pypdfium2
import pytest

from tests.emulators.model_script import ToolUse, calls, says
from tests.end_to_end.platforms.catalogue import where
from tests.end_to_end.stage import Stage, says_last
from tests.plugins.documents.pdf_samples import pdf

pytestmark = pytest.mark.asyncio(loop_scope="module")

LEASE = pdf(["1. The rent is 900."], ["7. A late fee of 5 % is due."])


@where(lambda facts: facts.files)
async def test_the_text_of_a_file_comes_with_the_message(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(says("A late fee is due."))

    await chat.says(ann, "what does clause 7 say?", document=("lease.pdf", LEASE, "application/pdf"))

    asked = await stage.asked(1)
    await chat.until(lambda c: c.screen != [] and c.screen[-1].endswith("A late fee is due."))
    assert "--- p. 2\n7. A late fee of 5 % is due." in asked.last_text


@where(lambda facts: facts.files and facts.emulated)
async def test_what_is_asked_for_as_a_pdf_comes_as_a_file(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    words = "# Clause 7\n\nA late fee of **5 %** is due. 滞纳金为 5%。\n\n| Days | Fee |\n| --- | --- |\n| 10 | 5 % |"
    write = ToolUse("write_document", {"path": "clause-7.pdf", "markdown": words})
    send = ToolUse("send_file", {"path": "clause-7.pdf"})
    stage.script.then(calls(write), calls(send), says("Here it is."))

    await chat.says(ann, "give me clause 7 as a PDF")

    await chat.until(lambda c: any(each.document for each in c.bot_messages))
    await chat.until(lambda c: any(text.endswith("Here it is.") for text in c.screen))
    [file] = [each.document for each in chat.bot_messages if each.document]
    assert file.name == "clause-7.pdf"
    (page,) = pypdfium2.PdfDocument(file.content)
    text = page.get_textpage().get_text_range()
    assert "A late fee of 5 % is due. 滞纳金为 5%。" in text
    assert "Days Fee" in text


@where(lambda facts: facts.files)
async def test_a_damaged_file_is_told_to_the_person(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    search = ToolUse("search_document", {"path": "half.pdf", "words": "fee"})
    stage.script.then(calls(search), says("Please send it again."))

    await chat.says(ann, "what does clause 7 say?", document=("half.pdf", LEASE[:400], "application/pdf"))

    asked = await stage.asked(2)
    await chat.until(says_last("Please send it again."))
    assert "half.pdf could not be read: it is damaged" in chat.screen[-1]
    assert "half.pdf could not be read: it is damaged" in asked.last_text
