"""The clocks of `parley.testing`, by the name that our own tests have for them."""

from parley.testing.clocks import FakeClock, HandClock, OffsetClock

__all__ = ["FakeClock", "HandClock", "OffsetClock"]
