"""Renders the templates of the admin pages.

Everything is escaped unless a template says that it is HTML already, and secrets are masked in all that is filled in.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from jinja2 import ChoiceLoader, Environment, FileSystemLoader, FunctionLoader, StrictUndefined
from markupsafe import Markup

from channels.base import ChatKey, Sender
from channels.web.render import render
from gateway.admin.screen import View, Visit
from gateway.security.secrets import Secrets
from gateway.texts.say import Language

FOLDER = Path(__file__).parent / "templates"


@dataclass(frozen=True)
class Entry:
    """An entry of the navigation."""

    name: str
    waiting: int = 0
    """Number of things on the screen that wait for somebody."""


class Templates:
    """The templates, with the functions that all of them use."""

    def __init__(
        self, zone: Callable[[], ZoneInfo], may: Callable[[Sender, ChatKey, str], bool], secrets: Secrets
    ) -> None:
        """Create the templates.

        Args:
            zone: Returns the time zone in which times are shown.
            may: Returns True if somebody may give a command line in a chat; no other is offered.
        """
        self._zone = zone
        self._may = may
        self._secrets = secrets
        self._jinja = Environment(
            loader=ChoiceLoader([FileSystemLoader(FOLDER), FunctionLoader(_named)]),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            enable_async=False,
            finalize=self._filled_in,
        )
        self._jinja.filters["markdown"] = _markdown

    def page(self, visit: Visit, view: View, *, screen: str, entries: Sequence[Entry]) -> str:
        """Render a whole page with its navigation."""
        return self._render(view.template, visit, {**view.facts, "screen": screen, "entries": entries})

    def part(self, visit: Visit, template: str, facts: Mapping[str, object]) -> str:
        """Render a part of a page, such as the answer to an action."""
        return self._render(template, visit, facts)

    def _render(self, template: str | Path, visit: Visit, facts: Mapping[str, object]) -> str:
        def may(line: str, chat: ChatKey | str = "") -> bool:
            named = ChatKey.parse(chat) if isinstance(chat, str) and chat else chat
            return self._may(visit.sender, named or visit.chat, line)

        def time(at: float | None) -> Markup:
            return self._time(at, visit.language)

        shared = {"here": visit.here, "visit": visit, "t": visit.say, "may": may, "time": time}
        return self._jinja.get_template(str(template)).render(**facts, **shared)

    def _filled_in(self, value: object) -> object:
        """Return what stands for a value in the page."""
        text = str(value)
        safe = self._secrets.mask(text)
        if safe == text:
            return value
        return Markup(safe) if hasattr(value, "__html__") else safe  # noqa: S704  HTML stays what it was

    def _time(self, at: float | None, language: Language) -> Markup:
        """Return a moment as an HTML element, in the zone of the installation."""
        if at is None:
            return Markup("–")
        moment = datetime.fromtimestamp(at, self._zone())
        shown = f"{moment:%Y-%m-%d %H:%M}" if language == "zh" else f"{moment:%d %b %Y %H:%M}"
        return Markup('<time datetime="{}">{}</time>').format(moment.isoformat(timespec="seconds"), shown)


def _named(file: str) -> str | None:
    """Return the template in a file of a plugin, which is named by its whole path."""
    return Path(file).read_text("utf-8") if Path(file).is_absolute() else None


def _markdown(text: str) -> Markup:
    return Markup(render(text))  # noqa: S704  the renderer escapes what it is given
