"""A metric with its samples, independent of how it is printed."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence

from msgspec import Struct


class Histogram:
    """Counts durations. `bounds` are in seconds, in ascending order."""

    def __init__(self, bounds: Sequence[float]) -> None:
        self.sum = 0.0
        """Sum of all durations in seconds."""
        self._bounds = tuple(bounds)
        self._counts = [0] * (len(self._bounds) + 1)

    def observe(self, seconds: float) -> None:
        """Count a duration; a negative one counts as 0."""
        seconds = max(seconds, 0.0)
        self._counts[bisect_left(self._bounds, seconds)] += 1
        self.sum += seconds

    def cumulative(self) -> list[tuple[str, float]]:
        """Return the number of durations up to each bound, in the form of Prometheus; the last bound is `+Inf`."""
        total, buckets = 0, []
        for bound, count in zip([*map(str, self._bounds), "+Inf"], self._counts, strict=True):
            total += count
            buckets.append((bound, float(total)))
        return buckets


class Metric(Struct, frozen=True):
    """A counter or a gauge. `samples` are pairs of the values of its labels and a number."""

    name: str
    about: str
    labels: tuple[str, ...]
    samples: tuple[tuple[tuple[str, ...], float], ...]
    counts: bool
    """True for a counter, which only grows while the program runs."""


class Durations(Struct, frozen=True):
    """A histogram of seconds."""

    name: str
    about: str
    histogram: Histogram


def counter(name: str, about: str, labels: tuple[str, ...], samples: Iterable[tuple[tuple[str, ...], float]]) -> Metric:
    """Return what only grows, by its labels."""
    return Metric(name, about, labels, tuple(samples), counts=True)


def gauge(
    name: str, about: str, samples: Iterable[tuple[tuple[str, ...], float]], labels: tuple[str, ...] = ()
) -> Metric:
    """Return what rises and falls, by its labels."""
    return Metric(name, about, labels, tuple(samples), counts=False)
