"""Parley whose clock a test sets; all else is as `parley run` has it."""

import os
import sys
from functools import partial
from pathlib import Path

from gateway.app import serve
from gateway.start import launch
from tests.end_to_end.clock import FILE, MovedClock

LOOK_EVERY = 0.1
"""Seconds between two looks at what is due: nobody is told that a test has moved the clock."""

if __name__ == "__main__":
    clock = MovedClock(Path(os.environ["HOME"]) / FILE)
    sys.exit(launch(os.environ, Path.cwd(), partial(serve, clock=clock, look_every=LOOK_EVERY)))
