"""What one client has learned of the models that it asks."""

from collections.abc import Iterable

import structlog

from agent_core.models.manner import Manner, known_of, learned

log = structlog.get_logger(__name__)


class Manners:
    """What one client has learned of each model."""

    def __init__(self) -> None:
        self._by_model: dict[str, Manner] = {}

    def of(self, model: str) -> Manner:
        return self._by_model.get(model) or known_of(model)

    def learn(self, model: str, refusal: str, sent: Iterable[str]) -> bool:
        """Learn from the words with which a request was refused; True if it can be sent again in another way."""
        taught = learned(self.of(model), refusal, sent) if refusal else None
        if taught is not None:
            log.info("a model's server takes requests in another way", model=model, manner=taught)
            self._by_model[model] = taught
        return taught is not None
