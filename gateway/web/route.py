"""A route of a plugin: what a program asks, what it is answered, and which paths are open to other machines."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

from msgspec import Struct, field

from channels.web.visitor import Visitor

TEXT = "text/plain; charset=utf-8"


async def _nothing() -> bytes:
    return b""


class Asked(Struct, frozen=True):
    """A request. One to a path that is not open has a method, headers and nothing else."""

    headers: Mapping[str, str]
    """By name, in any case."""
    method: str = "GET"
    name: str = ""
    """The part behind the path, if its `Opening` says that there is one."""
    place: str = ""
    """The address of the machine that asks."""
    body: Callable[[], Awaitable[bytes]] = _nothing
    """Reads the body. Raises Refused if it is too long, or does not come."""
    query: Mapping[str, str] = field(default_factory=dict)
    """The values behind `?` in the address; of several of one name the first."""
    showed_key: Callable[[], None] = lambda: None
    """Told that the request has shown a key, its connection is not cut any more as those of strangers are."""
    visitor: Visitor | None = None
    """Who is signed in on the page, for a path whose `Opening` is for visitors."""
    browser: str = ""
    """The digest of the visitor's browser, which `core.store.browsers` has until it is signed out."""


class Answer(Struct, frozen=True):
    """The answer to a request."""

    body: bytes
    status: int = 200
    content_type: str = TEXT
    headers: Mapping[str, str] = field(default_factory=dict)
    """Other headers."""
    chunks: AsyncIterator[bytes] | None = None
    """The rest of the body, piece by piece. It is closed as soon as the program that asks is gone. Each piece is masked
    by itself, so none may end within what could be a secret (`MaskedPieces`)."""


class Refused(Exception):
    """A request is answered with a refusal, wherever in the route this is raised."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.status)
        self.answer = answer


class Opening(Struct, frozen=True):
    """The way in which a path is open to programs on other machines, for which the route asks for a key of its own.

    Attributes:
        methods: The methods that it answers.
        most_bytes: The longest body in bytes. A longer one is refused before it is read.
        seconds: The longest time for an answer, or for the beginning of one that comes piece by piece.
        is_named: A further part follows the path, as in `/hooks/NAME`.
        for_visitors: Only scripts of the page reach it, in browsers that are signed in there.
        is_waited_for: It is cancelled when the program that asks leaves, as what it does is for the answer alone.
    """

    methods: tuple[str, ...] = ("GET",)
    most_bytes: int = 0
    seconds: float = 30.0
    is_named: bool = False
    for_visitors: bool = False
    is_waited_for: bool = False


Route = Callable[[Asked], Awaitable[Answer]]
"""Answers a request."""
