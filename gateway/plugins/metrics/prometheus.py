"""Prints metrics in the text format of Prometheus.

Importing this takes a tenth of a second, so it is imported when metrics are first asked for.
"""

from collections.abc import Iterable, Iterator, Sequence

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.registry import Collector

from gateway.records.metric import Durations, Metric


class _Collected(Collector):
    """Metrics that were read just before."""

    def __init__(self, metrics: Sequence[Metric | Durations]) -> None:
        self._metrics = metrics

    def collect(self) -> Iterator[Family]:
        return map(_family, self._metrics)


def exposition(metrics: Iterable[Metric | Durations]) -> bytes:
    """Return the metrics, with those of the process, as Prometheus reads them."""
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    registry.register(_Collected(tuple(metrics)))
    return generate_latest(registry)


def _family(metric: Metric | Durations) -> Family:
    if isinstance(metric, Durations):
        buckets = metric.histogram.cumulative()
        return HistogramMetricFamily(metric.name, metric.about, buckets, metric.histogram.sum)
    kind = CounterMetricFamily if metric.counts else GaugeMetricFamily
    family = kind(metric.name, metric.about, labels=metric.labels)
    for labels, value in metric.samples:
        family.add_metric(labels, value)
    return family
