"""Renders the templates of the admin pages.

Everything is escaped unless a template says that it is HTML already, and secrets are masked in all that is filled in.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from zoneinfo import ZoneInfo

from jinja2 import ChoiceLoader, Environment, FileSystemLoader, FunctionLoader, StrictUndefined
from markupsafe import Markup

from channels.base import ChatKey, Sender
from channels.web.render import render
from gateway.admin.icons import icon
from gateway.admin.names import name_element, with_names
from gateway.admin.navigation import Navigation
from gateway.admin.screen import View, Visit
from gateway.admin.times import time_element
from gateway.security.secrets import Secrets

FOLDER = Path(__file__).parent / "templates"


class Templates:
    """The templates, with the functions that all of them use."""

    def __init__(
        self,
        zone: Callable[[], ZoneInfo],
        may: Callable[[Sender, ChatKey, str], bool],
        secrets: Secrets,
        now: Callable[[], float],
    ) -> None:
        """Create the templates.

        Args:
            zone: Returns the time zone in which times are shown to browsers that tell none.
            may: Returns True if somebody may give a command line in a chat; no other is offered.
        """
        self._zone = zone
        self._may = may
        self._secrets = secrets
        self._now = now
        self._jinja = Environment(
            loader=ChoiceLoader([FileSystemLoader(FOLDER), FunctionLoader(_named)]),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            enable_async=False,
            finalize=self._filled_in,
        )
        filters = {"markdown": _markdown, "name": name_element, "names": with_names}
        self._jinja.filters |= {name: self._of_masked(made) for name, made in filters.items()}
        self._jinja.globals["icon"] = icon

    def page(self, visit: Visit, view: View, *, screen: str, navigation: Navigation | None = None) -> str:
        """Render a whole page with its navigation."""
        return self._render(view.template, visit, {**view.facts, "screen": screen, "navigation": navigation or {}})

    def part(self, visit: Visit, template: str, facts: Mapping[str, object]) -> str:
        """Render a part of a page, such as the answer to an action."""
        return self._render(template, visit, facts)

    def _render(self, template: str | Path, visit: Visit, facts: Mapping[str, object]) -> str:
        def may(line: str, chat: ChatKey | str = "") -> bool:
            named = ChatKey.parse(chat) if isinstance(chat, str) and chat else chat
            return self._may(visit.sender, named or visit.chat, line)

        def time(at: float | None) -> Markup:
            return Markup("–") if at is None else self._time(at, visit)

        shared = {"here": visit.here, "visit": visit, "t": visit.say, "may": may, "time": time}
        return self._jinja.get_template(str(template)).render(**facts, **shared)

    def _filled_in(self, value: object) -> object:
        """Return what stands for a value in the page."""
        text = str(value)
        safe = self._secrets.mask(text)
        if safe == text:
            return value
        return Markup(safe) if hasattr(value, "__html__") else safe  # noqa: S704  HTML stays what it was

    def _of_masked(self, made: Callable[[str], Markup]) -> Callable[[str], Markup]:
        """Return a filter that makes HTML of the masked text. In HTML a secret is not found again if it has a quote."""
        return lambda text: made(self._secrets.mask(str(text)))

    def _time(self, at: float, visit: Visit) -> Markup:
        """Return a moment as an HTML element, in the zone of the visitor's browser."""
        return time_element(at, self._now(), visit.zone or self._zone(), visit.language)


def _named(file: str) -> str | None:
    """Return the template in a file of a plugin, which is named by its whole path."""
    return Path(file).read_text("utf-8") if Path(file).is_absolute() else None


def _markdown(text: str) -> Markup:
    return Markup(render(text))  # noqa: S704  the renderer escapes what it is given
