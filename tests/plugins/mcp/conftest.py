"""A browser, for the tests of MCP servers."""

from tests.end_to_end.conftest import browser

__all__ = ["browser"]
