"""A metric with its samples, independent of how it is printed."""

from collections.abc import Iterable
from dataclasses import dataclass

from gateway.records.histogram import Histogram


@dataclass(frozen=True)
class Metric:
    """A counter or a gauge. `samples` are pairs of the values of its labels and a number."""

    name: str
    about: str
    labels: tuple[str, ...]
    samples: tuple[tuple[tuple[str, ...], float], ...]
    counts: bool
    """True for a counter, which only grows while the program runs."""


@dataclass(frozen=True)
class Durations:
    """A histogram of seconds."""

    name: str
    about: str
    histogram: Histogram


def counter(name: str, about: str, labels: tuple[str, ...], samples: Iterable[tuple[tuple[str, ...], float]]) -> Metric:
    return Metric(name, about, labels, tuple(samples), counts=True)


def gauge(
    name: str, about: str, samples: Iterable[tuple[tuple[str, ...], float]], labels: tuple[str, ...] = ()
) -> Metric:
    return Metric(name, about, labels, tuple(samples), counts=False)
