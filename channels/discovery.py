"""Discovery of channels. A platform's SDK is imported only when its channel is opened.

A channel is a package with two modules: `config` with a pydantic model `Config` and without SDK imports, and `adapter`
with `open_channel(config, now)`, where `now` returns the time in seconds since the epoch. Packages in `channels` are
found by listing it; others register under the entry point group `parley.channels`. Two more modules, `doctor` and
`setup`, are optional (see `channels/checkup.py`).
"""

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from types import MappingProxyType
from typing import cast

from pydantic import BaseModel, SecretStr

from channels.base import Channel
from channels.checkup import Account, Finding, Look, Setup

GROUP = "parley.channels"
HOME = "channels"


@cache
def configs() -> Mapping[str, type[BaseModel]]:
    """Return the settings class of every installed channel by its name."""
    found = {name: _config(package) for name, package in _packages().items()}
    return MappingProxyType({name: config for name, config in found.items() if config is not None})


def required_secret(config: type[BaseModel]) -> str | None:
    """Return the field that enables the channel: the first required secret. None for channels that need no account,
    which the program sets up itself."""
    return next(
        (
            name
            for name, field in config.model_fields.items()
            if field.is_required() and isinstance(field.annotation, type) and issubclass(field.annotation, SecretStr)
        ),
        None,
    )


def open_channel(name: str, config: BaseModel, now: Callable[[], float]) -> Channel:
    """Import the platform's SDK and create the channel, without sending anything.

    Args:
        name: Name of an installed channel; an unknown one raises KeyError.
        config: Its settings.
        now: Returns the time of events to which the platform gives none, in seconds since the epoch.
    """
    adapter = importlib.import_module(f"{_packages()[name]}.adapter")
    return cast(Channel, adapter.open_channel(config, now))


async def check(name: str, config: BaseModel) -> Sequence[Finding]:
    """Run the channel's own doctor checks; empty if it has none."""
    return (await look(name, config)).findings


async def look(name: str, config: BaseModel) -> Account:
    """Return what the platform tells of the account with these settings; nothing if the channel has no check."""
    module = f"{_packages()[name]}.doctor"
    if find_spec(module) is None:
        return Account(())
    return await cast(Look, importlib.import_module(module).look)(config)


@cache
def setups() -> Mapping[str, Setup]:
    """Return how an account is made on each platform that can be set up by a guide, by the channel's name."""
    found = {name: f"{package}.setup" for name, package in _packages().items()}
    return MappingProxyType(
        {
            name: cast(Setup, importlib.import_module(module).SETUP)
            for name, module in found.items()
            if find_spec(module) is not None
        }
    )


@cache
def _packages() -> Mapping[str, str]:
    """Return packages by channel name. Parley's own channels cannot be replaced by others."""
    ours = {
        module.name: f"{HOME}.{module.name}"
        for module in pkgutil.iter_modules(importlib.import_module(HOME).__path__)
        if module.ispkg
    }
    return {point.name: point.value for point in entry_points(group=GROUP)} | ours


def _config(package: str) -> type[BaseModel] | None:
    """Return the settings class, or None if the package is no channel."""
    if find_spec(f"{package}.config") is None:
        return None
    return cast(type[BaseModel], importlib.import_module(f"{package}.config").Config)
