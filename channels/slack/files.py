"""Files of Slack's messages: those that can be downloaded, and placeholders for the others."""

from channels.attachments import Attachment, shows
from channels.slack.mentions import Names
from channels.slack.wire import UNTOLD, File

_NOT_HERE = frozenset(("tombstone", "hidden_by_limit", "access_denied"))


def attachment_of(file: File, sender: str, names: Names) -> Attachment | None:
    """Return a file that can be downloaded, with its uploader if that is not the sender; None for any other."""
    address = file.url_private_download or file.url_private
    if _is_elsewhere(file) or not (address or file.id):
        return None
    known = names(file.user) if file.user and file.user != sender else None
    by = "" if not file.user or file.user == sender else known.name if known else file.user
    if file.mode == "email":  # its words are those of whoever wrote it
        by = by or "somebody"
    return Attachment(
        name=f"{_name(file)}.html" if file.is_page and not _name(file).endswith(".html") else _name(file),
        mime_type="text/html" if file.is_page else file.mimetype or "application/octet-stream",
        size=file.size,
        reference=address or f"{UNTOLD}{file.id}",
        by=by,
        is_voice=file.subtype == "slack_audio" and bool(sender) and file.user == sender,
        seconds=file.duration_ms / 1000 if file.duration_ms is not None else None,
    )


def enclosed_in(file: File) -> tuple[Attachment, ...]:
    """Return the files of an e-mail, which whoever sent it has chosen."""
    return tuple(
        Attachment(
            name=each.filename or f"file-{number}",
            mime_type=each.mimetype or "application/octet-stream",
            size=each.size,
            reference=each.url,
            by="somebody",
        )
        for number, each in enumerate(file.attachments, 1)
        if each.url
    )


def _is_elsewhere(file: File) -> bool:
    return file.is_external or file.mode == "external" or file.mode in _NOT_HERE


def not_here(file: File) -> str:
    """Return a placeholder line for a file that cannot be downloaded, or ""."""
    name = shown_name(file)
    if file.mode in _NOT_HERE:
        return f"[{name}: no longer available]" if file.mode == "tombstone" else f"[{name}: hidden]"
    if _is_elsewhere(file):
        return f"[{name}: {file.external_url or file.url_private or file.permalink}]"
    return ""


def described(file: File) -> str:
    """Return the line for what its uploader says that a picture shows, or ""."""
    return shows(_name(file), file.alt_txt)


def shown_name(file: File) -> str:
    return Attachment(name=_name(file)).safe_name


def _name(file: File) -> str:
    return file.name or file.title or f"file-{file.id}"
