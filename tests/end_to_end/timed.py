"""Parley with a clock that a test sets; otherwise like `parley run`."""

import os
import sys
from functools import partial
from pathlib import Path

from gateway.app.serve import serve
from gateway.app.start import launch
from tests.end_to_end.clock import FILE, MovedClock

TICK_EVERY = 0.1
"""Seconds between two checks for due jobs, as nothing announces that a test has moved the clock."""

if __name__ == "__main__":
    clock = MovedClock(Path(os.environ["HOME"]) / FILE)
    sys.exit(launch(os.environ, Path.cwd(), partial(serve, clock=clock, tick_every=TICK_EVERY)))
