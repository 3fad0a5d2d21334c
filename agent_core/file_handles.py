"""Failures for want of a file handle, which pass: work that met one is done again, and nobody is told of it."""

import errno

_LACKING = {errno.EMFILE, errno.ENFILE}


def lacks_handles(error: BaseException | None) -> bool:
    """Return True if the process or the machine had no file handle left, also as the cause of another error."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in _LACKING:
            return True
        error = error.__cause__ or error.__context__
    return False


def lack(reason: str) -> OSError:
    """Return the error of work that another one has told that no file handle was left."""
    return OSError(errno.EMFILE, reason)


def raise_lack(error: BaseException) -> None:
    """Raise an error again if it comes from a lack of handles, instead of telling people that their work failed."""
    if lacks_handles(error):
        raise error
