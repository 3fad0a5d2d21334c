"""The claims of a link's text: hosts, ports, mailboxes and names of accounts that a reader would take it to lead to.
Pure."""

import re
import unicodedata
from collections.abc import Iterator
from html import unescape
from urllib.parse import parse_qsl, unquote

from msgspec import Struct

from channels.file_endings import ENDINGS

LONGEST_HOST = 253
"""Characters."""
_MARKS = re.compile(r"<!--[^<>]{0,200}-->|</?[a-zA-Z][a-zA-Z0-9-]*+(?:[\s/][^<>]{0,200})?>|[*_~`\\\[\]!<>]")
_TAG = re.compile(r"<(?:!--|/?[a-zA-Z])[^<>]{0,200}>")
"""A comment or a tag, which some renderers show as it is written."""
_DOTS = re.compile("[\u3002\uff61\u06d4\u0701\u0702\u0660\u06f0\ua4f8\ua60e\U0001d16d\U00010a50]")
"""Characters that are read as dots: the first two also by browsers, the others by people alone."""
_SPELT_DOTS = re.compile(
    r"[ \xa0]?(?:\(\.\)|\[\.\]|\{\.\}|[(\[{]dot[)\]}])[ \xa0]?"
    r"|[ \xa0](?:\.[ \xa0]?|dot[ \xa0])(?=(?:com|net|org|info|biz|example)\b)"
    r"|(?<=\w)(?:[,\u201a\u060c\u066b\u0323\u0358\xb8\u02d9\u02f3\ua4fb\U00010101]|\.[ \xa0])"
    r"(?=(?-i:c[o0]m|net|[o0]rg|info|biz)\b)",
    re.IGNORECASE,
)
"""Dots as people write them who want no link to be made of an address, and signs that are read as dots there."""
REORDERING = re.compile("[\u202a-\u202e\u2066-\u2069]")
"""Characters that let a text be seen in another order than it has."""
_GAP = "[\u2000-\u200a\u202f\u205f\u2800\u3164\u115f\u1160\uffa0]"
_GAPS = re.compile(f"{_GAP}++(?=[.:/@])|(?<=[.:/@]){_GAP}++")
"""Spaces beside the signs of an address that are hardly seen."""
_MIDDLE_DOTS = re.compile(
    "(?<=[a-z0-9])[\u00b7\u1427\u16eb\u2022\u2027\u2219\u22c5\u2e31\u2e33\u30fb\ua78f](?=[a-z])", re.IGNORECASE
)
"""Dots in the middle of the line, where no other script uses them within a word."""
_TOPS = "中国|中國|公司|网络|網絡|香港|台湾|台灣|网址|網址|在线|中文网|政务|한국|みんな|新加坡"
_SENTENCES = re.compile(rf"(?<=[^\W\x00-\x7f])[\u3002\uff61\u06d4](?=[^\W\x00-\x7f])(?!{_TOPS})")
"""Ends of sentences in other scripts, after which no top-level domain follows."""
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_BROKEN = re.compile(r"(?<=[.:/@-])\s*\n\s*|\s*\n\s*(?=[.:/@-])")
"""A line break at which an address goes on."""
_CLAIM = re.compile(
    r"(?<![\w.+%-])(?P<mailbox>[\w.+%-]{1,64}+)@(?P<at>[\w-]++(?:\.[\w-]++)*+)"
    r"|(?P<scheme>https?):/{1,3}(?P<named>[^\s/?#]+)"
    r"|(?<![\w.-])(?P<bare>localhost(?![\w.-])|[\w-]++(?:\.[\w-]++)++)(?::(?P<port>\d{1,5})(?!\d))?"
)
_NAME = re.compile(r"(?<![\w.@/])@(\w{2,32})(?![\w@-]|\.\w)")
_WITHIN = re.compile(r"(?<=\w)\\?_(?=\w)")
_LETTER = "\u01bb"
"""Stands for the _ within a name, which is no mark of Markdown."""
_NAMES_AT = ("t.me", "telegram.me", "telegram.dog")
"""Hosts on which @name is the address of an account. Telegram opens these without asking, unlike other links."""
_ACCOUNT = re.compile(r"/(?:s/)?@?(\w+)")
_REST = re.compile(r"[/?#:(]\S*+")
_BEHIND_HOST = re.compile(r"\s*(?:[a-z]+:)?/{0,3}[^/?#\s]*([/?#]\S*)?")
_SIGNS = "/.,;:!?)'\"\u2019\u201d\u00bb"
"""Signs behind an address in a sentence."""
_ENDS = frozenset(("", "/", "?", "#"))
_PORT = re.compile(r":(\d{0,5})$")
_DEFAULT_PORTS = {"http": 80, "https": 443, "ftp": 21}
_IPV4 = re.compile(r"(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!\Z)|\Z)){4}")
_LIKE_LETTERS = (str.maketrans("0134578", "oleastb"), str.maketrans("0134578", "oieastb"))
"""Digits, and the letters that they look like."""
_TOP_DOMAINS = frozenset({"app", "bank", "biz", "com", "edu", "example", "gov", "info", "net", "online", "org", "shop"})
"""Top-level domains that are known so well that they are read into other words."""
_LIKE_ASCII = str.maketrans(
    "\u0430\u0432\u0435\u043a\u043c\u043d\u043e\u0440\u0441\u0442\u0443\u0445\u0455\u0456\u0458\u0501\u051b\u051d"
    "\u03b1\u03b3\u03b9\u03ba\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7\u03f2\u03f3"
    "\u0570\u0578\u057d\u0581\u0585\u0251\u0131",
    "abekmhopctyxsijdqwayikvoptuxcjhnugoai",
)
"""Letters that look like those of ASCII: Cyrillic, Greek, Armenian and Latin ones."""
_LIKE_LATIN = ("ARMENIAN", "CHEROKEE", "COPTIC", "CYRILLIC", "GREEK", "LISU")
"""Scripts with letters that look like Latin ones, as their names begin."""


class Place(Struct, frozen=True):
    """A place on the internet, as told by a text or an address."""

    host: str
    """In ASCII."""
    port: int | None = None
    """None: the usual one."""
    mailbox: str = ""

    def is_said_of(self, target: "Place") -> bool:
        """Return True if a text that names this place is honest about a link to the target."""
        both = self.mailbox and target.mailbox
        return self.host == target.host and self.port == target.port and (not both or self.mailbox == target.mailbox)

    def __str__(self) -> str:
        port = "" if self.port is None else f":{self.port}"
        return f"{self.mailbox}@{self.host}" if self.mailbox else f"{self.host}{port}"


class Claims(Struct, frozen=True):
    """The places that a text names; `is_all` if it consists of the one that it names."""

    places: frozenset[Place]
    is_all: bool = False
    addresses: tuple[str, ...] = ()
    """The same as they are displayed, with their paths."""
    names: frozenset[str] = frozenset()
    """Of accounts, such as `bank` for @bank."""


NONE = Claims(frozenset())


def place_without_scheme(address: str) -> Place | None:
    """Return the place that an address means to programs that put a scheme before it; None if it is a path."""
    found = next(_claims(displayed(address)), None)
    return found[0] if found is not None and found[1] == 0 else None


def claims_of(label: str) -> Claims:
    """Return what the text of a link claims, as it is displayed."""
    seen = displayed(label)
    plain = list(_claims(seen))
    found = plain or list(_look_alikes(label))
    places = {place for place, _, _ in found}
    if "\n" in seen:
        places |= {place for place, _, _ in _claims(_BROKEN.sub("", seen))}
    if "<" in (written := unescape(label)):
        places |= {place for tag in _TAG.findall(written) for place, _, _ in _claims(displayed(tag[1:-1]))}
    named = displayed(_WITHIN.sub(_LETTER, label)) if "@" in seen else ""
    names = frozenset(_NAME.findall(named))
    is_all = any(seen[start:end] == seen.strip() for _, start, end in found) or bool(_NAME.fullmatch(named.strip()))
    return Claims(frozenset(places), is_all, tuple(seen[start:end] for _, start, end in plain), names)


def leads_on(address: str, target: str) -> bool:
    """Return True if a target on the named host lies at the path that an address names, or below it."""
    named, meant = _path(address), _path(target)
    whole = named.rstrip(_SIGNS)
    return meant.startswith(whole) and (named.endswith("...") or meant[len(whole) : len(whole) + 1] in _ENDS)


def names_account(names: frozenset[str], target: Place, address: str) -> bool:
    """Return True unless the names are of other accounts than the one that an address leads to."""
    if target.host.endswith(".t.me"):
        return names <= {target.host.removesuffix(".t.me")}
    if target.host not in _NAMES_AT:
        return True
    found = _ACCOUNT.match(_path(_WITHIN.sub(_LETTER, address)))
    return names <= {found[1] if found else ""}


def _path(address: str) -> str:
    """Return what stands behind the host, as it is displayed."""
    found = _BEHIND_HOST.match(unquote(displayed(address)))
    return (found[1] if found else None) or ""


def _look_alikes(label: str) -> Iterator[tuple[Place, int, int]]:
    """Yield what is an address only if its letters are taken for those that they look like."""
    if not label.isascii():
        plain = unescape(label).lower().translate(_LIKE_ASCII)  # first, as NFKC makes other letters of some
        read = displayed(unicodedata.normalize("NFKC", plain).lower().translate(_LIKE_ASCII))
        yield from (each for each in _claims(read) if "xn--" not in each[0].host)


def _claims(seen: str) -> Iterator[tuple[Place, int, int]]:
    at = 0
    while found := _CLAIM.search(seen, at):
        at = found.end()
        if (place := _claimed(found)) is not None:
            rest = _REST.match(seen, at)  # its path names no other places
            at = rest.end() if rest else at
            yield place, found.start(), at


def _claimed(found: re.Match[str]) -> Place | None:
    if found["at"] and "." in found["at"]:
        return Place(ascii_host(found["at"]), mailbox=found["mailbox"])
    if found["named"]:
        return place_of(found["named"], found["scheme"])
    host = _host(found["bare"] or found["mailbox"])  # readers see bank.com in bank.com@evil
    port = found["port"]
    return Place(ascii_host(host), int(port) if port and int(port) not in (80, 443) else None) if host else None


def _host(name: str) -> str:
    """Return a host that a name with dots is read as; empty for other names, as those of files."""
    top = name.rpartition(".")[2]
    if "-" in top and not top.startswith("xn--"):  # readers see bank.com in bank.com-login
        name = name.removesuffix(top) + (top := top.partition("-")[0])
    is_top = "." in name and len(top) > 1 and (top.isalpha() or _is_read_as_top(top)) and top not in ENDINGS
    is_host = is_top or name.startswith("www.") or top.startswith("xn--")
    return name if is_host or name == "localhost" or _IPV4.fullmatch(name) else ""


def _is_read_as_top(name: str) -> bool:
    """Return True for `c0m` and the like."""
    return any(name.translate(letters) in _TOP_DOMAINS for letters in _LIKE_LETTERS)


def displayed(label: str) -> str:
    """Return the text as it looks: without Markdown marks, tags and invisible characters, with one kind of dot."""
    label = _GAPS.sub("", _SPELT_DOTS.sub(".", unescape(label)))
    text = unicodedata.normalize("NFKC", _MARKS.sub("", label))
    text = text.replace("\u2028", "\n").replace("\u2029", "\n")
    shown = "".join(char for char in text if char == "\n" or unicodedata.category(char) not in ("Cf", "Mn", "Cc"))
    return _DOTS.sub(".", _SENTENCES.sub("\n\n", _MIDDLE_DOTS.sub(".", shown))).lower()


def place_of(authority: str, scheme: str) -> Place:
    """Return the place that the authority of an address means, `user@host:port`."""
    host = _DOTS.sub(".", unicodedata.normalize("NFKC", authority.rpartition("@")[2])).lower()
    port = _PORT.search(host)
    host = ascii_host(_PORT.sub("", host).rstrip(".,;:!?)'\""))
    number = int(port[1]) if port and port[1] else None
    return Place(host, None if number == _DEFAULT_PORTS.get(scheme.lower()) else number)


def mailbox_of(address: str) -> Place:
    """Return the place that an address of mail means; of several recipients, all in the name of the mailbox."""
    first, _, query = address.partition("?")
    fields = ((name.lower(), value) for name, value in parse_qsl(query))
    others = (value for name, value in fields if name in ("to", "cc", "bcc"))
    mailbox, _, host = ",".join(filter(None, (unquote(first), *others))).rpartition("@")
    return Place(place_of(host, "").host, mailbox=mailbox.lower())


def ascii_host(host: str) -> str:
    """Return a host in ASCII, so that no letter of it looks like another one."""
    host = host.removeprefix("www.")
    if host.isascii() or len(host) > LONGEST_HOST:
        return _NOT_ASCII.sub("?", host)
    try:
        return host.encode("idna").decode("ascii")
    except UnicodeError:
        return host.encode("ascii", "backslashreplace").decode("ascii")


def looks_like_another(host: str) -> bool:
    """Return True for a host with letters that look like Latin ones beside Latin ones."""
    try:
        read = host.encode("ascii").decode("idna") if "xn--" in host else host
    except UnicodeError:
        return True
    letters = [unicodedata.name(char, "") for char in read if char.isalpha()]
    return any(name.startswith(_LIKE_LATIN) for name in letters) and any(name.startswith("LATIN") for name in letters)
