"""Discord's Markdown as users see it, without marks."""

import re
from collections.abc import Callable, Mapping

_CODE = re.compile(r"```(?:[\w+#.-]*\n)?(?P<block>.*?)\n?```|(?P<ticks>`+)(?P<span>.+?)(?P=ticks)", re.DOTALL)
_ESCAPE = re.compile(r"\\([^\sA-Za-z0-9])")
_ADDRESS = re.compile(r"<(https?://[^\s>]+)>")
_LINK = re.compile(r"\[([^\]\n]+)\]\((?:<[^>\n]+>|https?://[^\s)]+)\)")
_MENTION = re.compile(r"<@!?(\d+)>")
_LINE_MARK = re.compile(r"^(?:#{1,3}|-#|>) ", re.MULTILINE)
_STYLES = [
    re.compile(r"\*\*\*(?=\S)(.+?)\*\*\*", re.DOTALL),
    re.compile(r"\*\*(?=\S)(.+?)\*\*", re.DOTALL),
    re.compile(r"__(?=\S)(.+?)__", re.DOTALL),
    re.compile(r"~~(?=\S)(.+?)~~", re.DOTALL),
    re.compile(r"\|\|(?=\S)(.+?)\|\|", re.DOTALL),
    re.compile(r"\*(?=\S)([^*\n]+?)(?<=\S)\*"),
    re.compile(r"(?<!\w)_(?=\S)([^_\n]+?)(?<=\S)_(?!\w)"),
]
_KEPT = re.compile("\0(\\d+)\0")


def words(content: str, names: Mapping[str, str]) -> str:
    """Return the readable content; `names` are the names of mentioned users by id."""
    kept: list[str] = []

    def keep(pick: Callable[["re.Match[str]"], str]) -> Callable[["re.Match[str]"], str]:
        def put(found: "re.Match[str]") -> str:
            kept.append(pick(found))
            return f"\0{len(kept) - 1}\0"

        return put

    text = _CODE.sub(keep(lambda found: found["block"] if found["span"] is None else found["span"]), content)
    text = _ESCAPE.sub(keep(lambda found: found[1]), text)
    text = _LINK.sub(lambda found: found[1], text)
    text = _ADDRESS.sub(keep(lambda found: found[1]), text)
    text = _MENTION.sub(keep(lambda found: "@" + names.get(found[1], "unknown-user")), text)
    text = _LINE_MARK.sub("", text)
    for style in _STYLES:
        text = style.sub(r"\1", text)
    return _KEPT.sub(lambda found: kept[int(found[1])], text)


def mentioned(content: str) -> list[str]:
    """Return the ids of mentioned users, each once."""
    return list(dict.fromkeys(_MENTION.findall(content)))
