"""A browser, for the screen of costs."""

from tests.end_to_end.conftest import browser

__all__ = ["browser"]
