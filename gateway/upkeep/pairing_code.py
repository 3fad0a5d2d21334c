"""Shows the pairing code on the console and the page."""

from collections.abc import Callable, Sequence

from gateway.settings.current import CurrentSettings
from gateway.texts.say import say
from gateway.upkeep.owners import Owners


class PairingCode:
    """Shows each code on the console, and the first one on the page, where /pair shows the later ones."""

    def __init__(
        self, platforms: Sequence[str], owners: Owners, current: CurrentSettings, console: Callable[[str], None]
    ) -> None:
        self._platforms = ", ".join(platforms)
        self._owners = owners
        self._current = current
        self._console = console

    def __call__(self, code: str, is_first: bool) -> None:  # noqa: FBT001
        self._console(
            say("pair_no_owner", self._current.language, platforms=self._platforms, code=code).replace("`", "")
        )
        if is_first:
            self._owners.tell_pages(f"pairing-{code}", "pair_no_owner", platforms=self._platforms, code=code)
