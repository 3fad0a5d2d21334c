"""Reports that plugins make without a model: what is asked of them, and what they return."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from zoneinfo import ZoneInfo

from msgspec import Struct

from agent_core.origin import Origin
from channels.base import ChatKey
from gateway.texts.say import Language


class ReportOrder(Struct, frozen=True):
    """An order for a report that is made without a model.

    Attributes:
        chat: The chat of the job, whose files and rows may be read for it.
        person: The id of the job's author there.
        language: The language in which it is written.
        zone: The time zone of its times.
        subject: What it is about, as the author wrote it or as `MadeReport.subject` put it; empty if it needs nothing.
        at: The moment for which it is made, in seconds since the epoch. It is the same if a crash repeats the call.
        since: When the last one was made; None for the first, and for one that is only shown.
        job: The id of the job; empty if the report is only shown, so that nothing is to be remembered of it.
        firing: A name of this time, which is the same if a crash repeats the call.
    """

    chat: ChatKey
    person: str
    language: Language
    zone: ZoneInfo
    subject: str
    at: float
    since: float | None = None
    job: str = ""
    firing: str = ""


class MadeReport(Struct, frozen=True):
    """A report as Markdown that begins with a bold title, and its origin; empty if there is nothing to say.

    `subject` says more exactly what it is about, and is what the next ones are asked for; empty: as it was asked.
    """

    text: str
    origin: Origin
    subject: str = ""


class ReportRefused(Exception):
    """A report cannot be made. `text` says why in the language of the order; `choices` are subjects that would do."""

    def __init__(self, text: str, choices: Sequence[str] = ()) -> None:
        super().__init__(text)
        self.text = text
        self.choices = choices


class ReportKind(Struct, frozen=True):
    """A report that is made without a model.

    Attributes:
        name: A short word, by which `/report NAME` asks for it.
        title: Its name on a button, by language.
        about: What it tells, in half a sentence, by language.
        cron: When it comes if nobody says otherwise, as a cron line.
        make: Makes it. Raises ReportRefused.
        asks: The question for its subject, by language, with an example behind `{slash}`; empty if it needs none.
    """

    name: str
    title: Mapping[Language, str]
    about: Mapping[Language, str]
    cron: str
    make: Callable[[ReportOrder], Awaitable[MadeReport]]
    asks: Mapping[Language, str] | None = None


class ReportKinds:
    """The reports that plugins make, by name."""

    def __init__(self) -> None:
        self._kinds: dict[str, ReportKind] = {}

    def add(self, kind: ReportKind) -> None:
        self._kinds[kind.name] = kind

    def find(self, name: str) -> ReportKind | None:
        return self._kinds.get(name)

    @property
    def all(self) -> Collection[ReportKind]:
        return self._kinds.values()
