"""Metrics as Prometheus reads them."""

import re

Sample = tuple[str, tuple[tuple[str, str], ...]]
_LINE = re.compile(r"(\w+)(?:\{(.*)\})? (\S+)")
_LABEL = re.compile(r'(\w+)="([^"]*)"')


def parsed(text: str) -> dict[Sample, float]:
    """Return the samples by name and labels."""
    samples: dict[Sample, float] = {}
    for line in text.splitlines():
        if match := _LINE.fullmatch(line):
            samples[match[1], tuple(sorted(_LABEL.findall(match[2] or "")))] = float(match[3])
    return samples


def sample(name: str, **labels: str) -> Sample:
    return name, tuple(sorted(labels.items()))
