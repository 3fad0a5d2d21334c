"""A report whose words ask for a PDF comes with one, which its agent has written."""

import re

from agent_core.models.scripted import calls
from tests.plugins.documents.conftest import Reads
from tests.plugins.documents.test_written_files import written
from tests.plugins.documents.test_written_pdf import pages_of


async def test_a_report_that_is_asked_for_as_a_pdf_comes_with_one(reads: Reads) -> None:
    words = "# Open work\n\n| what | days |\n| --- | --- |\n| roof | 3 |"
    bot = await reads(
        calls(("write_document", {"path": "open-2026-11-30.pdf", "markdown": words})),
        calls(("send_file", {"path": "open-2026-11-30.pdf"})),
        "Three days are left for the roof.",
    )
    await bot.hears("/report every monday 9:00 what is open, as a PDF")
    assert "as a PDF" in bot.screen[-1]
    await bot.hears("yes")
    found = re.search(r"`([0-9a-z]{6})`", bot.screen[-1])
    assert found, bot.screen[-1]

    await bot.hears(f"/cron run {found[1]}")

    [(_, report)] = [each for each in bot.channel.posts if each[1].attachments]
    assert report.markdown.endswith("Three days are left for the roof.")
    assert [each.name for each in report.attachments] == ["open-2026-11-30.pdf"]
    assert "roof 3" in " ".join(pages_of(written(bot, "open-2026-11-30.pdf"))[0].split())
