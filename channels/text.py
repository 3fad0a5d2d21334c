"""Pure text functions for all channels: splitting messages and Markdown, measuring text, parsing commands.

Texts are GitHub-flavoured Markdown until they are sent. A platform's limit applies after conversion, so the caller
passes `fits` to measure.
"""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple
from urllib.parse import quote

import regex  # type: ignore[import-untyped]

from channels.attachments import Attachment
from channels.base import OutboundMessage, Sender
from channels.fences import Fence, Fences

_COMMAND = re.compile(r"/([A-Za-z0-9_]{1,32})(?:@([A-Za-z0-9_]+))?(?:\s+(.*))?", re.DOTALL)
_EMOJI_PARTS = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+|\d+")
_MOST_EMOJI_PARTS = 2
_LONGEST_EMOJI = 20
_SENTENCE = re.compile(r"[.!?…][\"'”’)\]]*\s+|[。！？][\"”’」』）]*")
_ATOM = re.compile(r"\[[^\[\]\n]*\]\([^()\n]*\)|`[^`\n]+`|\*\*[^*\n]+\*\*|\\.")
_QUOTE = re.compile(r" {0,3}>")
_MARKS = re.compile(r"[\\`*_\[\]<>~|$]")
_BEGINNINGS = re.compile(r"(?<=[\n\r])([ \t]*(?:\d{1,9}(?=[.)]))?)([#+=.)-])")
"""Begin a heading or an item of a list, in each line but the first, which may stand within another one."""
_NOT_IN_LINK = re.compile(r"[^!#$%&'+,\-./0-9:;=?@A-Z\[\]_a-z~]")
_GRAPHEME = regex.compile(r"\X")
_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Characters that count as letters but are drawn as nothing."""
_UNSEEN = frozenset(("Cc", "Cf", "Cs", "Mn"))
_LONGEST_ATOM = 2_000
_ENOUGH = 0.5
"""Share of a part that a paragraph, line or sentence must fill for a cut after it."""
_LITTLE = 0.3
_WORD = 0.1
_HEAD_SHARE = 3
_WHOLE = 2
_GROW = 1.5


class Command(NamedTuple):
    name: str
    arguments: str
    addressed: bool
    """True if the command names the bot (`/help@bot`) or no bot at all."""


class MessageText(NamedTuple):
    """Text of a message, and whether it mentions the bot."""

    text: str
    mentions_bot: bool
    shared: str = ""
    """Text by others that the message carries."""
    named: tuple[Sender, ...] = ()
    """Those whose names stand in the text for mentions."""

    @property
    def full_text(self) -> str:
        return "\n\n".join(filter(None, (self.text, self.shared)))


def emoji_told(name: str) -> str:
    """Return a custom emoji as text, without a name that may tell something: whoever made the emoji chose it."""
    is_plain = len(name) <= _LONGEST_EMOJI and len(_EMOJI_PARTS.findall(name)) <= _MOST_EMOJI_PARTS
    return f":{name}:" if is_plain else ":emoji:"


def utf16_len(text: str) -> int:
    """Return the length in UTF-16 code units, which Telegram counts."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def visible(text: str) -> bool:
    """Return True if the text has visible characters, not only spaces, zero-width, formatting and control
    characters."""
    first = text[:1]
    if first.isascii() and first.isalnum():
        return True
    return any(not char.isspace() and char not in _BLANK and unicodedata.category(char) not in _UNSEEN for char in text)


def literal(text: str) -> str:
    """Return the text with its Markdown characters escaped, also those that begin a line behind another one."""
    return _BEGINNINGS.sub(r"\1\\\2", _MARKS.sub(_escaped, text))


def with_votes(options: Iterable[tuple[str, int]]) -> list[str]:
    """Return the options of a poll as a list, with their votes once there are some."""
    given = list(options)
    is_voted = any(votes for _, votes in given)
    return [f"- {option} (votes: {votes})" if is_voted else f"- {option}" for option, votes in given]


def linked(label: str, address: str) -> str:
    """Return a link as `label (address)`, or the address alone if the label adds nothing."""
    address = address.removeprefix("mailto:")
    return f"{label} ({address})" if visible(label) and hides(label, address) else address


def hides(label: str, address: str) -> bool:
    """Return True if a link's label does not tell its address."""
    return _bare(label) != _bare(address.removeprefix("mailto:"))


def _bare(address: str) -> str:
    return re.sub(r"^https?://", "", address.strip(), flags=re.IGNORECASE).removesuffix("/").casefold()


def in_utc(seconds: float) -> str:
    """Return a moment as people read it; "" if there is no such one."""
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M UTC}"
    except (OverflowError, ValueError, OSError):
        return ""


def in_code(text: str) -> str:
    """Return the text as it can stand between backticks, where a backslash would be shown."""
    return " ".join(text.replace("`", "'").split())


def in_link(address: str) -> str:
    """Return an address as it can stand behind the label of a link, where some characters would end or change it."""
    return _NOT_IN_LINK.sub(lambda found: quote(found[0], safe="", errors="replace"), address)


def _escaped(found: re.Match[str]) -> str:
    return f"\\{found[0]}"


def parse_command(text: str, bot_names: Collection[str]) -> Command | None:
    """Parse `/name@bot arguments`; the name is lower-cased. Returns None for other text, including paths
    (`/usr/bin`)."""
    found = _COMMAND.fullmatch(text.strip())
    if found is None:
        return None
    name, bot, arguments = found.groups()
    addressed = bot is None or bot.casefold() in {ours.casefold() for ours in bot_names}
    return Command(name.lower(), (arguments or "").strip(), addressed)


def without(text: str, spans: Collection[tuple[int, int]]) -> str:
    """Return the text without these spans, such as mentions of the bot, and without the punctuation they leave
    behind."""
    for start, end in sorted(spans, reverse=True):
        before, after = text[:start].rstrip(" "), text[end:].lstrip(" ")
        glue = " " if before and after and not before.endswith("\n") and after[0] not in ",.:;!?\n" else ""
        text = before + glue + after.lstrip(",:" if not before else "")
    return text.strip() if spans else text


def split_message(
    message: OutboundMessage, texts_of: Callable[[str], Sequence[str]], is_caption: Callable[[str], bool]
) -> tuple[OutboundMessage, ...]:
    """Split a message into texts, then one part for each file.

    A text that is short enough for a caption goes with the first file. Only the first part is a reply; buttons go with
    the last text.
    """
    caption = message.markdown if message.attachments and is_caption(message.markdown) else ""
    texts = () if caption else texts_of(message.markdown)
    if not message.attachments and tuple(texts) == (message.markdown,) and _is_only_sent(message):
        return (message,)
    parts: list[tuple[str, tuple[Attachment, ...]]] = [(text, ()) for text in texts]
    for file in message.attachments:
        parts.append((caption, (file,)))
        caption = ""
    last_text = max(len(texts) - 1, 0)
    return tuple(
        OutboundMessage(
            markdown=text,
            attachments=files,
            silent=message.silent,
            buttons=message.buttons if place == last_text else (),
            reply_to=message.reply_to if place == 0 else None,
        )
        for place, (text, files) in enumerate(parts or [(message.markdown, ())])
    )


def _is_only_sent(message: OutboundMessage) -> bool:
    """Return True if all that a message holds is what its parts get."""
    beside = message.trouble or message.reasoning or message.forget or message.asks or message.respond
    return not (beside or message.calls or message.choice or message.form)


def split_markdown(markdown: str, fits: Callable[[str], bool], *, size: int = 4_000) -> tuple[str, ...]:
    """Split a text into parts that each satisfy `fits`, preferably between paragraphs; () for a blank text.

    `size`, in UTF-16 units, is the first length tried for a part. `fits` is called only a few times per part, so it may
    convert the text. Code fences are closed at the end of a part and reopened in the next. A grapheme is split only if
    it does not fit by itself.
    """
    if not markdown.strip():
        return ()
    return tuple(_Splitter(Fences(markdown), fits, size).parts())


class _Splitter:
    def __init__(self, fences: Fences, fits: Callable[[str], bool], size: int) -> None:
        self._fences = fences
        self._text = fences.text
        self._fits = fits
        self._size = size

    def parts(self) -> list[str]:
        if len(self._text) <= _WHOLE * self._size and self._fits(self._text):
            return [self._text]
        parts = []
        at, tried = 0, self._size
        while (at := self._skip_blank(at)) < len(self._text):
            part, at, tried = self._next(at, tried if tried >= self._size else int(tried * _GROW) + 1)
            if part.strip():
                parts.append(part)
        return parts

    def _next(self, at: int, limit: int) -> tuple[str, int, int]:
        """Return the longest part at `at` that fits, the start of the next one, and the limit used."""
        part, following = self._part(at, limit)
        while limit > 1 and not self._fits(part):
            limit = limit * 2 // 3
            part, following = self._part(at, limit)
        while "](" in part and following < len(self._text):  # links are longer before conversion
            longer, after = self._part(at, int(limit * _GROW) + 1)
            if not self._fits(longer):
                break
            part, following, limit = longer, after, int(limit * _GROW) + 1
        return part, following, limit

    def _skip_blank(self, at: int) -> int:
        """Return the next position at which a part may begin; inside code, indentation is kept."""
        here = at
        while here < len(self._text) and self._text[here].isspace():
            here += 1
        fence = self._fences.around(at)
        if fence is None or at < fence.inside or here >= len(self._text):
            return here
        if here >= fence.code_end:
            return self._skip_blank(fence.end)
        return max(at, self._text.rfind("\n", at, here) + 1)

    def _part(self, at: int, limit: int) -> tuple[str, int]:
        fence = self._fences.around(at)
        head = self._head(at, fence)
        tail = len(fence.closer) + 1 if fence else 0
        end = self._reach(at, max(1, limit - len(head) - tail))
        cut = len(self._text) if end >= len(self._text) else self._cut(at, end)
        body = self._text[at:cut]
        torn = self._fences.around(cut)
        if torn is None:
            return head + body.rstrip(), cut
        if cut >= torn.code_end:
            body, cut = self._text[at : torn.code_end], torn.end
        return f"{head}{body.rstrip()}\n{torn.closer}", cut

    def _head(self, at: int, fence: Fence | None) -> str:
        """Return the prefix that continues the fence or quote of the text before the part."""
        if fence is not None:
            again = fence.opener if len(fence.opener) * _HEAD_SHARE < self._size else fence.closer
            return again + "\n"
        line = self._text.rfind("\n", 0, at) + 1
        return "> " if line < at and _QUOTE.match(self._text, line) else ""

    def _reach(self, at: int, limit: int) -> int:
        """Return the end of the longest stretch from `at` with at most `limit` UTF-16 units."""
        stretch = self._text[at : at + limit]
        if not stretch.isascii():
            stretch = stretch.encode("utf-16-le", "surrogatepass")[: 2 * limit].decode("utf-16-le", "ignore")
        return at + max(1, len(stretch))

    def _cut(self, at: int, end: int) -> int:
        fence = self._fences.around(end)
        if fence is None:
            cut = self._prose_cut(at, end)
        elif fence.start > at and self._worth(at, fence.start, _LITTLE if end > fence.inside else 0, end):
            return fence.start
        else:
            cut = self._code_cut(at, end, fence)
        whole = self._whole_grapheme(at, cut)
        return whole if whole > at else end

    def _worth(self, at: int, cut: int, share: float, end: int) -> bool:
        return cut - at >= share * (end - at) and bool(self._text[at:cut].strip())

    def _prose_cut(self, at: int, end: int) -> int:
        low = max(at, self._fences.last_end(end))
        enough = max(low, at + int((end - at) * _ENOUGH))
        for mark in ("\n\n", "\n"):
            cut = self._text.rfind(mark, enough, end)
            if cut >= 0:
                return cut + len(mark)
        if low > at + (end - at) * _ENOUGH:
            return low
        cut = 0
        for sentence in _SENTENCE.finditer(self._text, enough, end):
            cut = sentence.end()
        if not cut:
            floor = max(low, at + int((end - at) * _WORD))
            cut = max(self._text.rfind(space, floor, end) for space in " \n\t\u3000") + 1
        return self._outside_atom(at, low, cut or end)

    def _outside_atom(self, at: int, low: int, cut: int) -> int:
        """Move a cut in front of the link, code or bold text that it would split, unless little text would remain."""
        line = max(low, self._text.rfind("\n", low, cut) + 1)
        for atom in _ATOM.finditer(self._text, line, min(len(self._text), cut + _LONGEST_ATOM)):
            if atom.start() >= cut:
                break
            if cut < atom.end():
                return atom.start() if self._worth(at, atom.start(), _WORD, cut) else cut
        return cut

    def _code_cut(self, at: int, end: int, fence: Fence) -> int:
        low = max(at, fence.inside)
        for mark, share in (("\n\n", _ENOUGH), ("\n", _LITTLE)):
            cut = self._text.rfind(mark, max(low, at + int((end - at) * share)), end)
            if cut >= 0:
                return cut + len(mark)
        return end

    def _whole_grapheme(self, at: int, cut: int) -> int:
        """Return the last grapheme boundary at or before `cut`."""
        if cut >= len(self._text) or self._plain(cut):
            return cut
        start = cut - 1
        while start > at and not self._plain(start):
            start -= 1
        for grapheme in _GRAPHEME.finditer(self._text, max(start, at)):
            if grapheme.end() >= cut:
                return cut if grapheme.end() == cut else grapheme.start()
        return cut

    def _plain(self, position: int) -> bool:
        """Return True between two ASCII characters other than "\\r\\n", which is always a grapheme boundary."""
        around = self._text[position - 1 : position + 1]
        return around.isascii() and around != "\r\n"
