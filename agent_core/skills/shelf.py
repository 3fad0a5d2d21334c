"""The skills of one chat: which are loaded, with which references, and what the prompt says of them."""


class SkillShelf:
    """One per chat. Each part of the prompt is empty where there is nothing to say."""

    @property
    def always(self) -> str:
        """Skills that are in the prompt without being loaded (S2-12)."""
        return ""

    @property
    def protocol(self) -> str:
        """How to load and unload (S0-04)."""
        return ""

    @property
    def index(self) -> str:
        """One line a skill, with its mark (S1-02)."""
        return ""

    @property
    def loaded(self) -> str:
        """Instructions of what is loaded (S1-07)."""
        return ""

    @property
    def references(self) -> str:
        """References that are loaded (S1-20)."""
        return ""
