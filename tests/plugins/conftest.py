"""The bot of the gateway's tests, for those of the plugins."""

from tests.gateway.conftest import model_of, pytest_generate_tests, start_bot, wired_bot

__all__ = ["model_of", "pytest_generate_tests", "start_bot", "wired_bot"]
