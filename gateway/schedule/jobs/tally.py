"""Counts how jobs went, since the program started."""

from collections import Counter

from gateway.records.histogram import Histogram
from gateway.store.job import Firing

SECONDS = (1.0, 5.0, 15.0, 60.0, 300.0, 1800.0, 7200.0)


class JobTally:
    """Counters of all jobs."""

    def __init__(self) -> None:
        self.runs: Counter[str] = Counter()
        """By outcome."""
        self.lateness = Histogram(SECONDS)
        """Seconds between the time when a job was due and its start."""

    def begun(self, firing: Firing) -> None:
        if not firing.is_rehearsal:
            self.lateness.observe((firing.began or firing.due) - firing.due)

    def ended(self, firing: Firing) -> None:
        self.runs[firing.state.value] += 1
