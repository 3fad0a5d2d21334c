"""The new mail of a mailbox, read from an MCP server."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from zoneinfo import ZoneInfo

from msgspec import Struct
from pydantic import JsonValue

from agent_core.messages import JsonObject
from channels.text import literal
from gateway.plugin import Core
from gateway.plugins.reports.entries import time_of, value_of, words_of
from gateway.plugins.reports.fitting import Argument, Wanted, count, fields, moment
from gateway.plugins.reports.source import Lacks, Source
from gateway.plugins.reports.weather import day_words
from gateway.schedule.jobs.report_kinds import MadeReport, ReportOrder
from gateway.texts.say import say

FIRST = 86_400.0
"""Seconds whose mail is told the first time, and before a report is set."""
MOST = 20
"""Messages that are told."""
_FIELDS = "subject,from,receivedDateTime,isRead"
_LONGEST = 120
"""Characters of a subject."""
_MAIL = re.compile(r"mail|inbox|outlook|imap|jmap")
_MESSAGES = frozenset(
    {"email", "emails", "gmail", "inbox", "mail", "mails", "message", "messages", "thread", "threads"}
)
_SINCE = re.compile(r"^(after|since|start|newer)|(after|since)$")
_QUERY = re.compile(r"q|query|search|searchquery")
_FOLDER = re.compile(r"(mail)?(folder|box)(id|name)?")


class _Message(Struct, frozen=True):
    sender: str
    subject: str
    at: datetime | None


class Mail:
    """The report of a mailbox."""

    def __init__(self, core: Core) -> None:
        self._source = Source(core, Lacks("reports_no_mail", "reports_mail_unknown"), _is_message)

    async def make(self, order: ReportOrder) -> MadeReport:
        """Make the report. Raises ReportRefused."""
        since = datetime.fromtimestamp(order.at - FIRST if order.since is None else order.since, UTC)
        read = await self._source.read(order, Wanted(_is_meant, partial(_filled, since)))
        messages = [_message(each) for each in read.entries if _is_unread(each)]
        new = [each for each in messages if each.at is None or each.at > since]
        if not new:
            return MadeReport("", read.origin, read.server)
        return MadeReport("\n".join(_text(new, order, read.server)), read.origin, read.server)


def _is_meant(words: frozenset[str], about: str) -> bool:
    return bool(words & _MESSAGES) and bool(_MAIL.search(about))


def _filled(since: datetime, argument: Argument) -> JsonValue:
    letters = argument.letters
    if known := count(argument) or fields(argument, _FIELDS):
        return known
    if "unread" in letters and argument.takes("boolean"):
        return True
    return _words(since, argument) if argument.takes("string") else None


def _words(since: datetime, argument: Argument) -> JsonValue:
    letters = argument.letters
    if _QUERY.fullmatch(letters):  # without Gmail's words nothing is known of a search but that it takes words
        is_gmail = "gmail" in argument.about or "is:unread" in argument.about
        return f"in:inbox is:unread after:{since.timestamp():.0f}" if is_gmail else None
    if letters == "filter" and ("odata" in argument.about or "isread" in argument.about):
        return f"isRead eq false and receivedDateTime ge {since:%Y-%m-%dT%H:%M:%SZ}"
    if _SINCE.search(letters):
        return moment(argument, since)
    return "inbox" if _FOLDER.fullmatch(letters) and argument.is_required else None


def _is_message(entry: JsonObject) -> bool:
    return bool(_subject(entry) or _sender(entry)) and (_at(entry) is not None or bool(_sender(entry)))


def _subject(entry: JsonObject) -> str:
    return words_of(value_of(entry, "subject", "title")) or words_of(value_of(entry, "snippet", "preview"))


def _sender(entry: JsonObject) -> str:
    words = words_of(value_of(entry, "from", "sender", "fromname", "fromemail"))
    return words.partition("<")[0].strip(' "') or words.strip("<>")


def _at(entry: JsonObject) -> JsonValue:
    return value_of(entry, "receivedat", "receiveddatetime", "internaldate", "date", "received", "sentat", "timestamp")


def _is_unread(entry: JsonObject) -> bool:
    """Return False for a message that is known to be read."""
    is_read, keywords, labels = (value_of(entry, each) for each in ("isread", "keywords", "labelids"))
    if is_read is True or value_of(entry, "isunread", "unread") is False:
        return False
    if isinstance(keywords, dict) and keywords.get("$seen") is True:
        return False
    return not isinstance(labels, list) or "UNREAD" in labels


def _message(entry: JsonObject) -> _Message:
    at = time_of(_at(entry), ZoneInfo("UTC"))
    subject = _subject(entry)
    shown = subject if len(subject) <= _LONGEST else f"{subject[: _LONGEST - 1]}…"
    return _Message(_sender(entry), shown, at if isinstance(at, datetime) else None)


def _text(new: Sequence[_Message], order: ReportOrder, server: str) -> Sequence[str]:
    language = order.language
    newest = sorted(new, key=lambda each: each.at.timestamp() if each.at else 0.0, reverse=True)
    rows = [f"| {_cell(each.sender)} | {_cell(each.subject)} | {_when(each, order)} |" for each in newest[:MOST]]
    left = len(newest) - MOST
    more = ["", say("reports_more", language, count=left)] if left > 0 else []
    title, head = say("reports_mail", language, count=len(new)), say("reports_mail_head", language)
    source = say("reports_from_server", language, name=literal(server))
    return [title, "", head, "| --- | --- | --- |", *rows, *more, "", source]


def _cell(text: str) -> str:
    return literal(text or "–")


def _when(message: _Message, order: ReportOrder) -> str:
    if message.at is None:
        return "–"
    at = message.at.astimezone(order.zone)
    return f"{day_words(at.date(), order.language)} {at:%H:%M}"
