"""Parts messages whose files a platform refuses together, so that only those are lost that it refuses alone."""

from collections.abc import Sequence

from msgspec.structs import replace

from channels.base import ChannelError, OutboundMessage
from gateway.store.rows import Post


def parted(post: Post) -> Sequence[Post]:
    """Return a post with the words and the first file, and one for each of the others."""
    first, *others = post.message.attachments
    apart = [OutboundMessage(markdown="", attachments=(file,), silent=post.message.silent) for file in others]
    posts = [replace(post, key=f"{post.key}:file:{place}", message=each) for place, each in enumerate(apart, 1)]
    return [replace(post, message=post.message.model_copy(update={"attachments": (first,)})), *posts]


def without_file(post: Post) -> Post:
    """Return a post with its words alone."""
    return replace(post, message=post.message.model_copy(update={"attachments": ()}))


def with_name(error: ChannelError, post: Post) -> ChannelError:
    """Return an error that names the file of a post, if it has one."""
    names = [file.safe_name for file in post.message.attachments]
    if len(names) != 1 or names[0] in error.reason:
        return error
    return ChannelError(f"{names[0]}: {error.reason}", permanent=error.permanent)
