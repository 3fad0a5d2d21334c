"""Failures of connections, in words for the owner: the address and what is wrong there."""

import socket
import ssl
from collections.abc import Iterator, Sequence

import aiohttp

from agent_core.file_handles import lacks_handles
from agent_core.models.llm import FailureCause, FailureKind, LlmFailure


def causes_of(error: BaseException | None) -> Iterator[BaseException]:
    """Yield the error, its cause, the cause of that, and so on."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        original = getattr(error, "original_exception", None)
        error = original if isinstance(original, BaseException) else error.__cause__ or error.__context__


def lost(causes: Sequence[BaseException], place: str, *, sent: bool, silence: str) -> LlmFailure:
    """Return the failure of a connection.

    Args:
        causes: The error and what caused it.
        place: Host and port of the server, if the errors do not name them.
        sent: True if the request may have arrived.
        silence: What is said of a server that does not go on.
    """
    if any(map(lacks_handles, causes)):
        message = "no connection could be opened, as no file handle was left"
        return LlmFailure(kind=FailureKind.FATAL, cause=FailureCause.HANDLES, message=message)
    refused = next((each for each in causes if isinstance(each, aiohttp.ClientConnectorError)), None)
    place, address = f"{refused.host}:{refused.port}" if refused else place, None
    if any(isinstance(each, socket.gaierror | aiohttp.ClientConnectorDNSError) for each in causes):
        message = f"no address is known of {place}"
    elif any(isinstance(each, ssl.SSLError | ssl.CertificateError) for each in causes):
        message = f"there is no safe connection to {place}: its certificate is not valid here, or it speaks no TLS"
    elif not sent:
        message, address = f"nothing answers at {place}", place
    elif any(isinstance(each, TimeoutError) for each in causes):
        message = silence
    else:
        message = f"the connection to {place} broke"
    return LlmFailure(
        kind=FailureKind.TRANSIENT, cause=FailureCause.NETWORK, message=message, address=address, may_be_billed=sent
    )
