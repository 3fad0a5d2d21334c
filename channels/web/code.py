"""Code in colours: each token gets a class, and the style sheet has a light and a dark colour for it."""

from collections.abc import Iterator
from functools import lru_cache
from html import escape

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES, Comment, Keyword, Literal, Name, Number, Operator, String, Token, _TokenType
from pygments.util import ClassNotFound

LONGEST = 20_000
"""Characters of a block of code in colours; a longer one is plain, since each delta of an answer colours it anew."""
_KINDS: tuple[tuple[_TokenType, str], ...] = (
    (Comment, "comment"),
    (Keyword, "keyword"),
    (Operator.Word, "keyword"),
    (String, "string"),
    (Number, "number"),
    (Literal, "number"),
    (Name.Function, "name"),
    (Name.Class, "name"),
    (Name.Tag, "keyword"),
    (Name.Attribute, "name"),
    (Name.Builtin, "builtin"),
    (Name.Decorator, "builtin"),
    (Token.Generic.Deleted, "deleted"),
    (Token.Generic.Inserted, "inserted"),
    (Token.Generic.Heading, "keyword"),
)
"""The kinds that have a colour; the first that fits counts."""


def coloured(code: str, language: str) -> str:
    """Return code as HTML. A language that is not known leaves it plain."""
    lexer = _lexer(language.strip().lower()) if language.strip() and len(code) <= LONGEST else None
    return "".join(_spans(lexer, code)) if lexer is not None else escape(code)


@lru_cache(maxsize=64)
def _lexer(language: str) -> Lexer | None:
    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def _spans(lexer: Lexer, code: str) -> Iterator[str]:
    for kind, text in lexer.get_tokens(code):
        name = _name(kind)
        yield f'<span class="c-{name}">{escape(text)}</span>' if name else escape(text)


@lru_cache(maxsize=len(STANDARD_TYPES))
def _name(kind: _TokenType) -> str:
    return next((name for known, name in _KINDS if kind in known), "")
