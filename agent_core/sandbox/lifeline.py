"""A pipe that closes when Parley ends, so that the guards of a command notice it."""

import os
import weakref


class Lifeline:
    """The pipe. `reading` is passed to child processes; only Parley holds the write end, which closes however it
    ends."""

    def __init__(self) -> None:
        self.reading, writing = os.pipe()
        weakref.finalize(self, _close, self.reading, writing)


def _close(*ends: int) -> None:
    for end in ends:
        os.close(end)
