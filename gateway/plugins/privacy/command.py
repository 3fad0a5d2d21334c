"""The command /privacy: what is kept, for how long, and where it goes, as the settings say."""

from collections.abc import Iterator
from itertools import chain

from channels.base import OutboundMessage
from channels.text import literal
from gateway.commands.command import Command, Invocation, reply
from gateway.core import Core
from gateway.permissions.rights import TALK, always
from gateway.plugins.privacy.privacy import Privacy, privacy_of
from gateway.records.audit_chain import DAYS as AUDIT_DAYS
from gateway.texts.say import Language, say


class PrivacyCommand:
    """The command /privacy."""

    def __init__(self, core: Core) -> None:
        self._current = core.settings
        self._models = core.models
        self._servers = core.servers

    async def privacy(self, given: Invocation) -> OutboundMessage:
        lines = [
            *self._goes_to(given.language),
            "",
            *self._kept(given.language),
            "",
            say("privacy_forget", given.language, slash=given.slash),
        ]
        return reply("\n".join(lines))

    def _privacy(self) -> Privacy:
        """Return what the settings in force say."""
        choices = chain.from_iterable(self._models.now.choices.values())
        added = {name: server.url for name, server in self._servers.added.items()}
        return privacy_of(self._current.now, choices, AUDIT_DAYS, added)

    def _goes_to(self, language: Language) -> Iterator[str]:
        """Yield the lines about who receives what."""
        told = self._privacy()
        yield say("privacy_goes", language)
        yield ""
        yield f"- {say('privacy_platform', language)}"
        for model in told.models:
            where = say("privacy_model_here", language) if model.is_here else literal(model.where)
            yield f"- {say('privacy_model', language, model=literal(model.name), where=where)}"
        if told.search:
            yield f"- {say('privacy_search', language, provider=literal(told.search))}"
        else:
            yield f"- {say('privacy_no_search', language)}"
        for server in told.servers:
            key = "privacy_server_here" if server.is_here else "privacy_server"
            yield f"- {say(key, language, name=literal(server.name), where=literal(server.where))}"
        key = "privacy_programs_network" if told.programs_network else "privacy_programs_no_network"
        yield f"- {say(key, language)}"

    def _kept(self, language: Language) -> Iterator[str]:
        """Yield the lines about what is kept on the machine."""
        told, now = self._privacy(), self._current.now
        yield say("privacy_kept", language)
        yield ""
        yield f"- {say('privacy_messages', language)}"
        if now.keep_days:
            yield f"- {say('privacy_results', language, days=now.keep_days)}"
        else:
            yield f"- {say('privacy_results_kept', language)}"
        yield f"- {say('privacy_files', language, days=told.version_days)}"
        if told.audit_days:
            yield f"- {say('privacy_audit', language, days=told.audit_days)}"
        if now.nightly_backups:
            yield f"- {say('privacy_backups', language, count=now.nightly_backups)}"
        else:
            yield f"- {say('privacy_no_backups', language)}"
        yield f"- {say('privacy_readers', language)}"

    @property
    def command(self) -> Command:
        about = "Show what is kept and where it goes"
        return Command(
            "privacy",
            {"en": about, "zh": "显示保存了什么、发送到哪里"},
            self.privacy,
            rights=always(TALK),
            after="forget",
        )
