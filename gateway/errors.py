"""The one kind of error that a person is told in a sentence, without a traceback."""


class ParleyError(Exception):
    """Something that whoever starts Parley can put right; `sentence` says what failed, why, and what to do."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


class SettingsError(ParleyError):
    """A setting, or a file of settings, that cannot be used; the sentence names key and file."""
