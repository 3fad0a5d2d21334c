"""Marks tests of a plugin that use another one, which may be deleted."""

import pytest

from tests.process import REPOSITORY


def beside(plugin: str) -> pytest.MarkDecorator:
    """Mark a test that needs another plugin of ours."""
    is_there = (REPOSITORY / "gateway" / "plugins" / plugin / "plugin.py").is_file()
    return pytest.mark.skipif(not is_there, reason=f"the plugin {plugin} is deleted")
