"""Documents that people send are read wherever they send them."""

import pytest

from tests.emulators.model_script import ToolUse, calls, says
from tests.end_to_end.platforms.catalogue import where
from tests.end_to_end.stage import Stage
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


@where(lambda facts: facts.files)
async def test_a_damaged_file_is_told_to_the_person(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    search = ToolUse("search_document", {"path": "half.pdf", "words": "fee"})
    stage.script.then(calls(search), says("Please send it again."))

    await chat.says(ann, "what does clause 7 say?", document=("half.pdf", LEASE[:400], "application/pdf"))

    asked = await stage.asked(2)
    await chat.until(lambda c: c.screen != [] and c.screen[-1].endswith("Please send it again."))
    assert "half.pdf could not be read: it is damaged" in chat.screen[-1]
    assert "half.pdf could not be read: it is damaged" in asked.last_text
