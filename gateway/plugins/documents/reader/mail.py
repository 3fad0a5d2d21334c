"""E-mail files: heads, text, and the files that come with them."""

from collections.abc import Iterator
from email import message_from_bytes, policy
from email.message import EmailMessage, MIMEPart

from gateway.plugins.documents.reader.html_text import text_of_html
from gateway.plugins.documents.reader.page import Unreadable

HEADS = ("From", "To", "Cc", "Date", "Subject")
MOST_PARTS = 200
_MOST_DEPTH = 20


class Mail:
    """An e-mail."""

    def __init__(self, content: bytes) -> None:
        message = message_from_bytes(content, policy=policy.default)
        if not isinstance(message, EmailMessage):
            raise Unreadable("broken")
        self._message = message
        self._check()

    def _check(self) -> None:
        """Raises Unreadable for parts inside each other without end."""
        waiting: list[tuple[MIMEPart, int]] = [(self._message, 0)]
        count = 0
        while waiting:
            part, depth = waiting.pop()
            count += 1
            if depth > _MOST_DEPTH or count > MOST_PARTS:
                raise Unreadable("nested")
            if part.is_multipart():
                waiting += [(each, depth + 1) for each in part.iter_parts()]

    def text(self) -> str:
        """Return its heads and its text."""
        heads = [f"{name}: {value}" for name in HEADS if (value := self._head(name))]
        return "\n".join([*heads, "", self._body()]).strip()

    def _head(self, name: str) -> str:
        try:
            return " ".join(str(self._message.get(name, "")).split())
        except (ValueError, IndexError, AttributeError):  # what the standard library raises at broken heads
            return ""

    def _body(self) -> str:
        body = self._message.get_body(("plain", "html"))
        if body is None:
            return ""
        text = _decoded(body)
        return text_of_html(text) if body.get_content_type() == "text/html" else text

    def files(self) -> Iterator[tuple[str, bytes]]:
        """Yield the names and contents of the files that came with it."""
        for number, part in enumerate(self._message.iter_attachments(), 1):
            if part.get_content_type() == "message/rfc822":
                inner = next(iter(part.iter_parts()), None)
                content = inner.as_bytes() if inner is not None else b""
                yield part.get_filename() or f"message-{number}.eml", content
                continue
            decoded = part.get_payload(decode=True)
            yield part.get_filename() or f"file-{number}", decoded if isinstance(decoded, bytes) else b""


def _decoded(body: MIMEPart) -> str:
    content = body.get_payload(decode=True)
    if not isinstance(content, bytes):
        return ""
    try:
        return content.decode(body.get_content_charset() or "utf-8", "replace")
    except LookupError:
        return content.decode("utf-8", "replace")
