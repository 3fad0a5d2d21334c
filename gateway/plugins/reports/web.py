"""Reads JSON and pages of the public web, and says in a sentence why that was not possible."""

from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from agent_core.tools.tool import ToolFailed
from agent_core.tools.web.fetch import AnswerRefused, Fetched
from channels.text import literal
from gateway.plugin import Core
from gateway.schedule.jobs.report_kinds import ReportRefused
from gateway.texts.say import Language, say

T = TypeVar("T")


async def read_json(core: Core, url: str, form: TypeAdapter[T], language: Language) -> T:
    """Return what an address answers. Raises ReportRefused, and AnswerRefused for the status of a failure."""
    found = await read(core, url, language)
    try:
        return form.validate_json(found.body)
    except ValidationError as error:
        raise ReportRefused(say("reports_odd", language, url=literal(url.partition("?")[0]))) from error


async def read(core: Core, url: str, language: Language) -> Fetched:
    """Fetch an address. Raises ReportRefused, and AnswerRefused for the status of a failure."""
    try:
        return await core.web.get(url)
    except AnswerRefused:
        raise
    except ToolFailed as error:
        raise refused(error, language) from error


def refused(error: ToolFailed, language: Language) -> ReportRefused:
    return ReportRefused(say("reports_unreadable", language, why=literal(error.fact)))
