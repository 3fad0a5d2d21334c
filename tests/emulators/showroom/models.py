"""The models of the showroom: one of each provider, which thinks, calculates and looks at a calendar, and answers."""

import re

from tests.emulators.calendar_server import looks_at_tomorrow
from tests.emulators.dialects.dialect import Dialect
from tests.emulators.dialects.exchange import Exchange
from tests.emulators.model_script import ModelRequest, ToolUse, Turn

_SUM = re.compile(r"\d[\d.]*(?:\s*[-+*/]\s*\d[\d.]*)+")
_CONTEXT = "</context>\n"
CALENDAR = "calendar"
"""The name by which the models know the calendar."""


def models() -> Exchange:
    """Return one server of each dialect at one address."""
    exchange = Exchange(lambda dialect: lambda asked: answer(asked, dialect, exchange), any_key=True)
    return exchange


def answer(asked: ModelRequest, dialect: Dialect, exchange: Exchange) -> Turn:
    """Return what the model says: it calculates and looks at tomorrow where it can, and else repeats what was said."""
    results = exchange.servers[dialect.name].results(asked)
    texts = (text.rpartition(_CONTEXT)[2].strip() for text in asked.texts("user"))
    words = [text for text in texts if text and text not in results]  # Anthropic's results are messages of people
    sums = [found[0] for text in words if (found := _SUM.search(text))]
    said = words[-1] if words else ""
    if "tomorrow" in said and f"{CALENDAR}_list_events" in asked.tools:
        return looks_at_tomorrow(asked, results[-1] if results and results[-1] in asked.last_text else "")
    if (found := _SUM.search(said)) is None:
        return Turn(f"You said to {dialect.name}: {said}", thinking="There is nothing to calculate.")
    if len(results) < len(sums):
        return Turn(tools=(ToolUse("calculator", {"expression": found[0]}),), thinking=f"I calculate {found[0]}.")
    return Turn(f"{found[0]} = {results[-1]}, says {dialect.name}.", thinking="Now I know it.")
