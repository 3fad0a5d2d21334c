"""A database with a wrong password, for the tests of `parley replay`."""

from tests.gateway.test_database_refused import wrong

__all__ = ["wrong"]
