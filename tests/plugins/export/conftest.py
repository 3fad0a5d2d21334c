"""A database with a wrong password, for the tests of the export."""

from tests.gateway.test_database_refused import wrong

__all__ = ["wrong"]
