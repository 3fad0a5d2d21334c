"""Settings of nightly maintenance."""

from dataclasses import dataclass


@dataclass(frozen=True)
class UpkeepSettings:
    """Settings of nightly maintenance."""

    backups: int = 7
    """The number of nightly backups kept; 0 disables them."""
    whole_days: int = 30
    """Days after which long results are shortened; 0: never."""
