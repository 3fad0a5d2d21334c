"""The pages that browsers see before they are signed in, while they sign in and while an address opens.

They show nothing of what Parley knows.
"""

from html import escape
from pathlib import Path
from string import Template

from aiohttp import web

from gateway.texts.say import Language, language_of, say
from gateway.web.assets import PAGES, read_asset
from gateway.web.links import Link
from gateway.web.sessions import Keys

SIGN_IN = "/sign-in"
FILE = Path(__file__).parent / "static" / "sign-in.html"
_FORM = (
    f'<form method="post" action="{SIGN_IN}"><input type="hidden" name="token" value="{{token}}">'
    '<button type="submit" class="primary" autofocus>{button}</button></form>\n'
)
_KEYS = (
    '<p id="keys" data-token="{token}" data-ticket="{ticket}"><a href="/">{button}</a></p>\n'
    '<script type="module" src="/enter.js"></script>\n'
)


class Pages:
    """Renders the pages, in the language of the browser."""

    def __init__(self) -> None:
        self._template = Template(FILE.read_text(encoding="utf-8"))
        self._opening = read_asset(PAGES / "open.html")

    def offer(self, request: web.Request, link: Link) -> web.Response:
        """Return the page with the button that signs the browser in."""
        language = _language(request)
        who = f"{link.person} ({link.principal})" if link.person else link.principal
        text = say("entry_local", language) if link.expires is None else say("entry_as", language, who=who)
        form = _FORM.format(token=escape(link.token), button=escape(say("entry_button", language)))
        return self._page(language, "entry_open", text, form=form)

    def signed_in(self, request: web.Request, keys: Keys) -> web.Response:
        """Return the page whose script keeps the keys in the browser and opens Parley."""
        language = _language(request)
        button = escape(say("entry_button", language))
        form = _KEYS.format(token=escape(keys.token), ticket=escape(keys.ticket), button=button)
        return self._page(language, "entry_signed_in", say("entry_needs_script", language), form=form)

    def opening(self, request: web.Request) -> web.Response:
        """Return the page whose script asks for the address anew, with the token, and shows the answer."""
        return self._opening.answer(request)

    def no_token(self, request: web.Request) -> web.Response:
        """Return what a person reads whose change was refused."""
        return web.Response(status=403, text=say("entry_no_token", _language(request)))

    def refused(self, request: web.Request) -> web.Response:
        """Return the page for browsers that are not signed in."""
        language = _language(request)
        return self._page(language, "entry_refused", say("entry_how", language), status=403)

    def stale(self, request: web.Request) -> web.Response:
        """Return the page for a link that is wrong, used or too old."""
        language = _language(request)
        return self._page(language, "entry_stale", say("entry_how", language), status=403)

    def wait(self, request: web.Request) -> web.Response:
        """Return the page for an address with too many wrong tries."""
        language = _language(request)
        page = self._page(language, "entry_wait", say("entry_wait_text", language), status=429)
        page.headers["Retry-After"] = "60"
        return page

    def _page(self, language: Language, title: str, text: str, *, form: str = "", status: int = 200) -> web.Response:
        facts = {"language": language, "title": escape(say(title, language)), "text": escape(text), "form": form}
        return web.Response(text=self._template.substitute(facts), status=status, content_type="text/html")


def _language(request: web.Request) -> Language:
    return language_of(request.headers.get("Accept-Language", "").split(",")[0].partition(";")[0].strip(), "en")
