"""A browser, for the page of a newcomer."""

from tests.end_to_end.conftest import browser

__all__ = ["browser"]
