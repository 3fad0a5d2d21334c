"""The one kind of error that a person is told in a sentence, without a traceback."""

from pathlib import Path


class ParleyError(Exception):
    """Something that whoever starts Parley can put right; `sentence` says what failed, why, and what to do."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


class HomeUnusable(ParleyError):
    """A file or folder of PARLEY_HOME that cannot be made, read or written."""

    def __init__(self, path: Path, reason: str) -> None:
        """`reason`: the system's words."""
        super().__init__(
            f"{path} cannot be used ({reason}). See that you own it and that the disk has room, "
            "or set PARLEY_HOME to another folder."
        )


class SettingsError(ParleyError):
    """A setting, or a file of settings, that cannot be used; the sentence names key and file."""
