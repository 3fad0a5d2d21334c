"""Flight booking by the demo model, as its skill describes it: asks for all details, then the time, then searches."""

import re

from msgspec import Struct

from gateway.plugins.demo.steps import Outcome, Plan, Scene, Step, StepFailed, Use, done, loaded, script
from gateway.plugins.demo.wording import CHINESE, ENGLISH, Wording

SKILL = "book-flight"
REFERENCE = "reference.md"
LONGEST_WISH = 500
"""Characters of one message that are read."""
LONGEST_NAME = 3
"""Words of a city's name."""
TIME_SCRIPT = "get_current_time.py"

_FLAGS = re.IGNORECASE | re.MULTILINE
# Patterns are compiled on first use, because that takes longer than importing the demo.
_CITY = r"([A-Za-z\u4e00-\u9fff][A-Za-z\u4e00-\u9fff .'-]*?)"
_ENDS = (
    r"(?=\s+(?:to|from|on|for|in|at|by|with|and|the|next|this|tomorrow|today|please|then|instead|economy|business|first)\b"
    r"|\s*[0-9,，.;；。!！?？\n]|\s*$)"
)
_NO_CITY = r"(?!(?:fly|go|book|travel|get|see|be|have|take|the|a|an|my|me|your|search)\b)"
_FROM = (
    rf"\b(?:from|(?:leaving|departing)(?:\s+from)?)\s+{_CITY}{_ENDS}"
    r"|(?:从|我在)\s*([\u4e00-\u9fff]{2,6}?)(?:出发|起飞|走|(?=飞|到|去|往|前往|[\s，,。]|$))"
    r"|(?<=天)((?:(?![我想要帮请订飞去到往出])[\u4e00-\u9fff]){2,4})(?=飞|到|去|往)"
    r"|([\u4e00-\u9fff]{2,6}?)(?:出发|起飞)"
)
_TO = (
    rf"\bto\s+{_NO_CITY}{_CITY}{_ENDS}"
    r"|(?:飞往|飞到|飞去|前往|改成|换成|到|去|飞)\s*([\u4e00-\u9fff]{2,6}?)(?=的|机票|航班|今天|明天|后天|吧|呢|[\s，,。！？0-9]|$)"
)
_DAY = (
    r"day after tomorrow|后天|tomorrow|明天|today|今天|in a week|一周后|[0-9]{4}[-/.年][0-9]{1,2}[-/.月][0-9]{1,2}日?"
)
_TOLD_AS = {
    "day after tomorrow": "Day after tomorrow",
    "后天": "Day after tomorrow",
    "tomorrow": "Tomorrow",
    "明天": "Tomorrow",
    "today": "Current Date",
    "今天": "Current Date",
    "in a week": "In a week",
    "一周后": "In a week",
}
"""The time script's name of a day, by its name in a message."""
_CABIN = r"economy|business|first class|经济舱|公务舱|商务舱|头等舱"
_CABINS = {
    "business": "business",
    "公务舱": "business",
    "商务舱": "business",
    "first class": "first",
    "头等舱": "first",
}
_PEOPLE = r"([1-9])\s*(?:people|persons?|passengers?|adults?|个人|人|位|名)"
_WANTS = r"\b(?:flights?|fly|flying|tickets?|book)\b|机票|航班|飞|订|票"
_FILLERS = (
    r"\b(?:no|ok|okay|yes|please|then|and|the|on|for|class|well|i|leave|fly|it|is|instead|rather|try|make"
    r"|what about|how about)\b|[的吧呢那就请好不再看换个，,。.!！?？]"
)
_NAME = r"[A-Za-z][A-Za-z' -]{1,29}|[\u4e00-\u9fff]{2,6}"
_NO_NAME = (
    r"\b(?:hello|hi|hey|thanks?|thx|cheers|bye|goodbye|sorry|great|cool|nice|good|perfect|wow|help|test|why|who|what|how"
    r"|when|where|can|could|do|does|did|are|am|was|were|will|would|you|your|my|me|this|that|never ?mind|cancel)\b"
    r"|[你您我他谢吗么]|再见|多谢|算了|取消|帮助|可以|知道"
)
"""Words that cannot be part of a city's name."""
_ROW = r"^\| ([A-Z][A-Za-z ]+) \| ([\u4e00-\u9fff]+) \| [A-Z]{3} \|"
"""A row of the reference's table of cities."""
_UNKNOWN = r"Unknown (?:departure|destination) city '(.+)'"


class Details(Struct, frozen=True):
    """The known details of a flight; empty if not given."""

    start: str = ""
    end: str = ""
    day: str = ""
    cabin: str = "economy"
    people: str = "1"

    @classmethod
    def of(cls, talk: str) -> "Details":
        """Parse all messages about the flight, one per line; later ones override earlier ones."""
        details = cls()
        for line in talk.splitlines():
            details = details.after(line[:LONGEST_WISH])
        return details

    def after(self, line: str) -> "Details":
        """Update the details; a bare name is the missing city, or else another destination."""
        start, end = _last(_FROM, line), _last(_TO, line)
        rest = line
        for pattern in (_FROM, _TO, _DAY, _CABIN, _PEOPLE, _FILLERS):
            rest = re.sub(pattern, " ", rest, flags=_FLAGS)
        bare = " ".join(rest.split())
        if not re.search(_WANTS, line, _FLAGS) and _is_name(bare) and not (start and end):
            is_start = not start and not self.start
            start, end = (bare, end) if is_start else (start, end or bare)
        cabin = _last(_CABIN, line).lower()
        return Details(
            start or self.start,
            end or self.end,
            _last(_DAY, line).lower() or self.day,
            _CABINS.get(cabin, "economy") if cabin else self.cabin,
            _last(_PEOPLE, line) or self.people,
        )

    def missing(self, wording: Wording) -> list[str]:
        wanted = (self.start, wording.flight_from), (self.end, wording.flight_to), (self.day, wording.flight_day)
        return [question for answer, question in wanted if not answer]


def says_more(line: str) -> bool:
    """Return True if otherwise meaningless words may continue an earlier wish."""
    return Details().after(line[:LONGEST_WISH]) != Details()


def flight(talk: str, scene: Scene) -> Plan:
    """Ask for all missing details at once; then search, and for an unknown city list the known ones."""
    yield from loaded(SKILL, scene)
    details, wording = Details.of(talk), scene.wording
    if missing := details.missing(wording):
        return wording.flight_ask.format(missing=wording.flight_and.join(missing))
    day = details.day
    if day in _TOLD_AS:
        (told,) = yield from done(script(SKILL, TIME_SCRIPT))
        found = re.search(rf"^{_TOLD_AS[day]}: ([0-9-]{{10}})", told.fact, re.MULTILINE)
        day = found[1] if found else day
    args = ["--from", details.start, "--to", details.end, "--date", day]
    args += ["--class", details.cabin, "--passengers", details.people]
    (search,) = yield Step((script(SKILL, "search_flights.py", *args),))
    if not search.failed:
        options = "\n".join(line for line in search.fact.splitlines() if line.startswith("- "))
        return wording.flight_found.format(start=details.start, end=details.end, day=day, options=options)
    if not (unknown := re.search(_UNKNOWN, search.fact)):
        raise StepFailed(search)
    yield from done(Use("load_skill_reference", {"skill": SKILL, "reference": REFERENCE}, optional=True))
    return _cities(unknown[1], scene)


def is_time(outcome: Outcome) -> bool:
    """Return True for the time, which need not be looked up twice for one flight."""
    return outcome.use == script(SKILL, TIME_SCRIPT) and not outcome.failed


def _is_name(bare: str) -> bool:
    """Return True if the words may be a city's name: short, and without words that cannot be part of one."""
    fits = re.fullmatch(_NAME, bare) and not re.search(_NO_NAME, bare, _FLAGS)
    return bool(fits) and len(bare.split()) <= LONGEST_NAME


def _cities(unknown: str, scene: Scene) -> str:
    """Return the answer for an unknown city, with the cities of the reference loaded in the prompt."""
    wording = scene.wording
    rows = re.findall(_ROW, scene.system, re.MULTILINE)
    names = [row[1] if wording is CHINESE else row[0] for row in rows]
    separator = ", " if wording is ENGLISH else "、"
    other = next((name for name in names if name in ("Osaka", "大阪")), "Tokyo" if wording is ENGLISH else "东京")
    return wording.flight_unknown.format(city=unknown, cities=separator.join(names) or "-", other=other)


def _last(pattern: str, text: str) -> str:
    found = list(re.finditer(pattern, text, _FLAGS))
    return next((group for group in found[-1].groups() if group), found[-1][0]).strip() if found else ""
