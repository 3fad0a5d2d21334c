"""The model is offered the tools that read documents once the chat has a file."""

from agent_core.models.scripted import calls
from parley.testing.bot import Bot
from tests.plugins.documents.conftest import Reads

READING = {"read_document", "search_document", "see_page"}


def offered(bot: Bot) -> list[set[str]]:
    """Return which of the tools that read documents each request offered."""
    return [{tool.name for tool in request.tools} & READING for request in bot.llm.requests]


async def test_a_chat_is_offered_what_reads_files_once_it_has_one(reads: Reads) -> None:
    bot = await reads("Hello.", "I see.", "You are welcome.")

    await bot.hears("hello")
    await bot.hears("what does it say?", files={"lease.txt": b"The rent is due."})
    await bot.hears("thanks")

    assert offered(bot) == [set(), READING, READING]


async def test_a_file_that_the_model_writes_is_one(reads: Reads) -> None:
    bot = await reads(calls(("write_document", {"path": "a.docx", "markdown": "A."})), "Written.")

    await bot.hears("write it down")

    assert offered(bot) == [set(), READING]
