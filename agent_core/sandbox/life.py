"""A pipe that is at its end when Parley is: whoever guards a command reads from it, and nobody ever writes."""

import os
import weakref


class Life:
    """`reading` is handed to others. The end for writing is ours alone, and is closed however we end."""

    def __init__(self) -> None:
        self.reading, writing = os.pipe()
        weakref.finalize(self, _close, self.reading, writing)


def _close(*ends: int) -> None:
    for end in ends:
        os.close(end)
