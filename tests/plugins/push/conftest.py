"""A browser, for the switch on the page."""

from tests.end_to_end.conftest import browser

__all__ = ["browser"]
