"""The guide that connects Parley with a platform: token, live check, first message of the owner, `.env`, start."""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from secrets import token_urlsafe

from pydantic import BaseModel

from channels import discovery
from channels.checkup import Account, Finding, Setup, Token, Variant
from gateway.connect.guide import Guide, Surroundings
from gateway.connect.listener import Listener
from gateway.connect.pasted import cleaned, flaw, whose
from gateway.connect.program import Met
from gateway.connect.steps import Ask, Busy, Choice, Done, Failed, Form, Line
from gateway.errors import SettingsError
from gateway.settings.settings import Settings, channel_configs
from gateway.settings.sources import Origin
from gateway.texts.say import Language, language_of, say

OWNERS = "PARLEY_OWNERS"


class PlatformGuide(Guide):
    """Connects one platform."""

    def __init__(self, platform: str, around: Surroundings, language: Language) -> None:
        """`platform` is one of `discovery.setups()`."""
        super().__init__(around, language)
        self._platform = platform
        self._setup: Setup = discovery.setups()[platform]
        self._config: type[BaseModel] = channel_configs()[platform]
        self._given: dict[str, str] = {}
        """Tokens by field."""
        self._variant: Variant | None = None
        """The other kind of account, once it was chosen."""
        self._is_agreed = platform not in around.settings.channels
        """True once it is certain that the tokens may be replaced."""

    async def _converse(self) -> Done:
        self._file.check()
        self._check_environment()
        if not self._is_agreed:
            places = ", ".join(f"`{place}`" for place in self._places())
            text = self._say("connect_replace", platform=self._setup.title, places=places)
            self._is_agreed = await self._confirmed(text)
            if not self._is_agreed:
                return Done(lines=(self._say("connect_unchanged"),))
        await self._take()
        settings, account = await self._verified()
        async with AsyncExitStack() as life:
            if self._around.program is not None:
                await life.enter_async_context(self._around.program.paused(self._platform))
            return await self._meet(settings, account)

    # Tokens

    async def _take(self, troubles: Mapping[str, str] | None = None) -> None:
        """Ask for the tokens in one form until each of the right form was given; those stay."""
        wrong = dict(troubles or {})
        while wrong or any(token.field not in self._given for token in self._setup.tokens):
            fields = tuple(self._field(token, wrong.get(token.field, "")) for token in self._setup.tokens)
            form = self._begun(Form(fields=fields))
            answer = await self._ask(form)
            if form.instead is not None and answer == form.instead.value:
                self._variant = self._setup.variant
                continue
            values, wrong = form.unpacked(answer), {}
            for token, value in zip(self._setup.tokens, map(cleaned, values), strict=True):
                if not value and token.field in self._given:
                    continue
                if trouble := self._trouble_with(token, value):
                    wrong[token.field] = trouble
                else:
                    self._around.secrets.add(value)
                    self._given[token.field] = value

    def _field(self, token: Token, trouble: str) -> Ask:
        is_kept = token.field in self._given
        return Ask(label=token.where[self._language], is_secret=True, trouble=trouble, is_kept=is_kept)

    async def _wrong(self, number: int, text: str) -> str:
        return self._trouble_with(self._setup.tokens[number], cleaned(text))

    def _begun(self, form: Form) -> Form:
        """Return the form with what to do before and, until it was chosen, the other kind of account."""
        steps, other = self._setup.steps[self._language], self._setup.variant
        if self._variant is not None:
            return form.model_copy(update={"text": steps, "link": self._variant.link})
        if other is None:
            return form.model_copy(update={"text": steps, "link": self._setup.link})
        instead = Choice(value=other.word, label=other.label[self._language])
        text = f"{steps}\n\n{other.about[self._language]}"
        return form.model_copy(update={"text": text, "link": self._setup.link, "instead": instead})

    def _trouble_with(self, token: Token, value: str) -> str:
        if not value:
            return self._say("connect_nothing")
        reason = flaw(self._config, token.field, value)
        if not reason:
            return ""
        fits = [each for each in self._setup.tokens if not flaw(self._config, each.field, value)]
        if fits:
            return self._say("connect_other_token", where=fits[0].where[self._language])
        if owner := whose(value):
            return self._say("connect_other_platform", owner=owner, platform=self._setup.title)
        return self._say("connect_bad_form", reason=reason)

    async def _verified(self) -> tuple[Settings, Account]:
        """Ask the platform about the tokens until nothing is wrong with them."""
        while True:
            settings = await self._settings_with(self._variables())
            await self._show(Busy(text=self._say("connect_asking", platform=self._setup.title)))
            account = await discovery.look(self._platform, settings.channels[self._platform])
            refused = next((each for each in self._setup.tokens if each.field == account.refused), None)
            if refused is not None:
                del self._given[refused.field]
                found = self._line(account.problems[0])
                await self._take({refused.field: self._say("connect_refused", what=found.what, fix=found.fix)})
            elif not account.problems or await self._put_off(
                tuple(map(self._line, account.findings)), can_wait=all(each.can_wait for each in account.problems)
            ):
                return settings, account

    async def _settings_with(self, values: Mapping[str, str]) -> Settings:
        """Return the settings as they will be with these variables. Raises SettingsError."""
        reread = self._around.settings.reread
        return self._around.settings if reread is None else await asyncio.to_thread(reread, values)

    def _variables(self) -> dict[str, str]:
        values = {self._variable(field): value for field, value in self._given.items()}
        other = self._setup.variant
        if other is not None and (self._variant or f"{self._platform}.{other.field}" in self._around.settings.places):
            values[self._variable(other.field)] = "true" if self._variant else "false"
        return values

    def _variable(self, field: str) -> str:
        return f"{self._platform}_{field}".upper()

    def _places(self) -> list[str]:
        """Return where the tokens are set now."""
        places = self._around.settings.places
        keys = [f"{self._platform}.{token.field}" for token in self._setup.tokens]
        return [places[key].words(self._language) for key in keys if key in places]

    def _check_environment(self) -> None:
        """Raise SettingsError for a token in the environment, which would win over the file."""
        for token in self._setup.tokens:
            name = self._variable(token.field)
            if self._is_in_environment(f"{self._platform}.{token.field}", name):
                raise SettingsError(self._say("connect_in_environment", name=name))

    def _is_in_environment(self, key: str, name: str) -> bool:
        return self._around.settings.places.get(key) == Origin(name)

    # The owner

    async def _meet(self, settings: Settings, account: Account) -> Done:
        """Wait for the owner's first message, write the file, and let Parley say hello."""
        program = self._around.program
        channel = discovery.open_channel(self._platform, settings.channels[self._platform], self._around.now)
        around, keeps_others = self._around, bool(self._places())
        await self._show(Busy(text=self._say("connect_starting", platform=self._setup.title)))
        async with Listener(channel, around.secrets, around.now, keeps_others=keeps_others) as listener:
            await listener.connected()
            owner = await self._owner(listener, account)
            written = self._write(settings, owner)
            trouble = "" if program is not None else await listener.greet(owner, self._hello(owner, "connect_hello"))
        if program is None:
            return Done(lines=(*written, *self._how_to_start(account, trouble)))
        await self._show(Busy(text=self._say("connect_starting", platform=self._setup.title)))
        while trouble := await program.connect(self._platform, owner):
            await self._ask(Failed(text=self._say("connect_not_started", platform=self._setup.title, reason=trouble)))
        running = self._say("connect_running", name=account.name, platform=self._setup.title)
        return Done(lines=(running, *self._left(account), *written))

    async def _owner(self, listener: Listener, account: Account) -> Met:
        notes = tuple(
            self._line(each) for each in account.findings if not account.link or account.link not in each.what
        )
        hello = self._setup.hello[self._language].format(name=account.name)
        word = token_urlsafe(16) if account.word else ""
        link = account.link.removesuffix(account.word) + word
        while True:
            await self._listen(self._say("connect_listening", hello=hello), link, notes)
            person = await listener.met()
            # only whoever reads this guide knows the word of its link
            if (word and person.word == word) or await self._confirmed(
                self._say("connect_is_it_you", name=person.name, id=person.principal)
            ):
                return person
            listener.refuse(person)

    def _write(self, settings: Settings, owner: Met) -> tuple[str, ...]:
        """Write tokens and owner, and return sentences about that. Raises SettingsError."""
        values, lines = self._variables(), []
        if owner.principal not in settings.owners:
            if self._is_in_environment("owners", OWNERS):
                lines.append(self._say("connect_add_owner", name=OWNERS, id=owner.principal))
            else:
                values[OWNERS] = ",".join(sorted({*settings.owners, owner.principal}))
        self._file.write(values)
        names = ", ".join(f"`{name}`" for name in values)
        return (self._say("connect_written", file=str(self._file.path), names=names), *lines)

    def _how_to_start(self, account: Account, trouble: str) -> list[str]:
        said = [] if not trouble else [self._say("connect_no_hello", reason=trouble)]
        start = self._say("connect_start", command=self._around.start_command, name=account.name)
        return [*said, start, *self._left(account)]

    def _left(self, account: Account) -> list[str]:
        """Return a sentence about each problem that was put off."""
        left = map(self._line, account.problems)
        return [self._say("connect_left", what=each.what, fix=each.fix) for each in left]

    def _line(self, finding: Finding) -> Line:
        return Line.of(finding, self._language)

    def _hello(self, owner: Met, key: str) -> str:
        return say(key, language_of(owner.language, self._language), name=owner.name)
