"""Tells failures for want of a file handle, which pass, from others."""

import errno

_LACKING = {errno.EMFILE, errno.ENFILE}


def lacks_handles(error: BaseException | None) -> bool:
    """Return True if the process or the machine had no file handle left, also as the cause of another error."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in _LACKING:
            return True
        error = error.__cause__ or error.__context__
    return False
