"""The limits of a platform: lengths, sizes, the pace of edits, and what it cannot do.

Each adapter has one `Limits` with the values of its platform; `gateway/delivery` keeps to them.
"""

from datetime import timedelta

from channels.values import Value


class Limits(Value):
    """The limits and abilities of a platform."""

    max_text: int
    """Longest text of one message, in the platform's own units, after conversion."""
    edit_every: timedelta = timedelta(seconds=1)
    """Interval between two calls to one private chat that the platform tolerates permanently: the pace of edits."""
    edit_every_in_groups: timedelta = timedelta(seconds=1)
    """The same interval for groups."""
    burst: int = 3
    """Calls that a chat may make at once after a rest."""
    threads_share_pace: bool = True
    """True if all threads of a chat share one rate limit."""
    threads_share_memory: bool = False
    """True if the threads of a private chat are conversations of one person, for whom Parley keeps one memory."""
    calls_per_second: float = 1000.0
    """Calls allowed over all chats."""
    edits_per_minute: float | None = None
    """Edits allowed over all chats, where the platform limits them separately."""
    edits_wait_alone: bool = False
    """True if new messages may be sent to a chat in which the platform lets edits wait."""
    streams_per_minute: float | None = None
    """Streams that may begin over all chats, where the platform limits them separately."""
    appends_per_minute: float | None = None
    """Parts that may be added to streams over all chats, where the platform limits them apart from edits."""
    slash: str = "/"
    """Prefix of commands."""
    keeps_keys: bool = False
    """True if a second send with the same key returns the message that the first one made."""
    ids_per_workspace: bool = False
    """True if the ids of users are those of a workspace, so that another one may have the same id."""
    id_form: str = r"[^\s:]{1,64}"
    """Pattern of the ids of users."""
    is_local: bool = False
    """True if only the user of this machine can reach the channel, so that every sender is the owner."""
    accompanies: bool = False
    """True if Parley ends when all other channels have ended."""
    one_receiver: bool = False
    """True if one process at a time may receive with an account; others may send."""
    bound_to_process: bool = False
    """True if people are reached only by the process to which they are connected, so that it has to do the work."""
    tells_full_members: bool = False
    """True if `Standing.is_full_member` tells members of the workspace from its guests."""
    captions: bool = False
    """True if an edit can add text to a message that has a picture."""
    voice_messages: bool = False
    """True if a recording, such as a spoken answer, can be sent as a voice message; it is Opus in an OGG file then."""
    folds_reasoning: bool = False
    """True if the model's reasoning can be unfolded; elsewhere it is not shown."""
    shows_calls: bool = False
    """True if tool calls are rows that can be opened; elsewhere they are lines of the progress message, which is folded
    once the answer is there."""
    forgets: bool = False
    """True if the messages are gone after a restart of Parley."""
    rates_answers: bool = False
    """True if a message can have a quiet pair of buttons by which people say if it is good."""
    stays_written: bool = False
    """True if a finished message can be neither changed nor removed."""
    max_upload: int = 50 * 1024 * 1024
    """Largest file that can be sent, in bytes."""
    words_after: timedelta = timedelta(seconds=1.5)
    """Time after its first words at which an unfinished answer is shown, if edits are not scarce; a run of 1.5 s is
    shown in any case."""
    typing_every: timedelta = timedelta(seconds=4)
    """Interval at which a typing indicator must be renewed."""
