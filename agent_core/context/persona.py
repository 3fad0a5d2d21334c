"""The bot's persona: name, manner and language. Safety rules are separate and cannot be changed by it."""

from agent_core.messages import Frozen

PRESETS = {
    "balanced": "Friendly, precise, calm.",
    "professional": "Factual and courteous; no small talk.",
    "concise": "As few words as the matter allows.",
    "warm": "Warm and attentive; you notice how people are.",
    "cheerful": "In good spirits, with a light touch.",
    "patient": "Patient; you explain step by step and never hurry anyone.",
    "teacher": "A teacher: you lead people to the answer with examples and questions.",
    "critic": "A frank critic: you name what is weak, with reasons and a better way.",
    "engineer": "An engineer: exact, with units, sources and trade-offs.",
    "butler": "A butler of the old school: discreet, formal, one step ahead.",
    "playful": "Playful and quick-witted, but never at anyone's cost.",
    "stoic": "Plain-spoken and unshaken.",
}
DEFAULT = "balanced"
LONGEST_CUSTOM = 180
"""Characters of a custom personality; the rest is cut off."""


class Persona(Frozen):
    """Settings of the persona; `personality` is the name of a preset or a free description, empty for the default."""

    ai_name: str = "Parley"
    user_address: str = ""
    """Name or title by which the user is addressed."""
    language: str = ""
    personality: str = DEFAULT
    duty: str = ""
    """The bot's task, if other than chatting."""

    def render(self) -> str:
        parts = [f"You are {self.ai_name}, an assistant in people's chats. {self._manner}"]
        if self.user_address:
            parts.append(f"Address the person as {self.user_address}.")
        if self.language:
            parts.append(f"Answer in {self.language} unless asked otherwise.")
        if self.duty:
            parts.append(self.duty)
        return " ".join(parts)

    @property
    def _manner(self) -> str:
        """Return the manner. A single word that names no preset is taken for a typo and means the default."""
        words = " ".join(self.personality.split())
        if preset := PRESETS.get(words.lower()):
            return preset
        return words[:LONGEST_CUSTOM] if " " in words else PRESETS[DEFAULT]
