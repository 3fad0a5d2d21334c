"""The interface of plugins: what one adds to Parley, and what it is given for that.

A plugin is one ability with all that it adds, in a folder of its own: a subclass of `Plugin`, and beside it its
commands, tools and texts. Nothing outside the folder names it. Those that come with Parley are the folders in
`gateway/plugins`, each with a module `plugin` whose `PLUGIN` is the class. Those of others are in packages with an
entry point in the group `parley.plugins`, such as `dice = parley_dice:Dice`, and are loaded if PARLEY_PLUGINS names
them and an owner has approved what is installed. One of them that fails before Parley runs, in an import, a method or a
list, is left out with all that it adds.

What a plugin adds is read once at each start, in this order: `settings`, `models`, `migrations`, `texts`, `findings`,
`tools`, `run_buttons`, `owed`, `reports`, `commands`, `presses`, `screens`, `routes`, `duties`. What can only be made
from the lists of all plugins is an argument of the later ones. The other class attributes belong to these, and are read
before.

Classes that are named here and not imported, such as `Settling` or `Errand`, are in `parley`, as docs/public.md says. A
plugin in `gateway/plugins` imports them from where they are defined.

A module `cli` in the folder may add commands of the program, such as `parley NAME`: see `gateway/subcommand.py`.

The other methods are moments: they are called while Parley runs, and only on plugins that override them.

All of Parley runs in one event loop. What is awaited is given up at its limit; what blocks instead, such as
`time.sleep`, stops every chat meanwhile, and no limit ends it. Each start waits until all plugins are imported: what is
needed rarely is imported inside the method that needs it.
"""

from collections.abc import Awaitable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from agent_core.clock import Clock
from agent_core.loop.permissions import Proposal
from agent_core.models.provided import ModelProvider
from agent_core.origin import Origin
from agent_core.tools.tool import Tool
from channels.base import ChatKey, ReactionAdded, ReactionRemoved
from channels.checkup import Finding
from gateway.admin.screen import Screen
from gateway.chat.holds import HoldUntil
from gateway.chat.places import Place
from gateway.chat.prompt_notes import PromptHistory, PromptNote
from gateway.chat.received_files import FileContents, ReceivedFile
from gateway.chat.sounds import Heard, Sound
from gateway.commands.command import Command
from gateway.commands.press import Press
from gateway.core import Core, Duty, Running
from gateway.permissions.gates import Objection
from gateway.runs.owed import Doer
from gateway.runs.run_buttons import RunButton
from gateway.schedule.jobs.report_kinds import ReportKind
from gateway.settings.current import CurrentSettings
from gateway.settings.plugin_settings import PluginSettings
from gateway.settings.settings import Settings
from gateway.store.connection import Connection
from gateway.store.erasures import Forgotten
from gateway.store.owed import Owed
from gateway.store.rows import InboxItem, Post, Run, RunEnd
from gateway.texts.say import Language
from gateway.web.route import Opening, Route

__all__ = ["Core", "Duty", "Plugin", "Running"]


class Plugin:
    """One ability. A plugin overrides the methods for what it adds.

    It is made at each start, before anything runs.
    """

    name: ClassVar[str]
    """A short word, by which people and other plugins name it."""
    needs: ClassVar[frozenset[str]] = frozenset()
    """Names of the plugins that have to be there, and are made before it."""
    texts: ClassVar[Mapping[str, Mapping[str, str]]] = {}
    """Texts for people, by key and language, for `say`. No key may be one of another plugin or of Parley."""
    findings: ClassVar[Sequence[Mapping[str, str]]] = ()
    """All that `examined` may find, and the remedies: each as a text by language, with places for what differs.

    Such as `{"en": "{name} asks for a sign-in", "zh": ...}`. The page tells them in the reader's language.
    """
    tool_names: ClassVar[frozenset[str]] = frozenset()
    """Names of all `tools`. No MCP server may use them, as rules of permissions refer to them."""

    settings: ClassVar[type[PluginSettings] | None] = None
    """The class of its settings, which says how they are named and described. `core.settings.of(CLASS)` has the values.

    They are set in the environment and in files, as those of Parley, and listed with these. Secret ones are masked
    everywhere. They are those of the start, but where the `About` has a `chat_example`: owners and admins may change
    these in chats. A wrong value stops the start, as one of Parley does; a plugin of others is left out instead. Values
    for a plugin that is not there are warned of. A plugin of ours has the class also as `SETTINGS` of its module
    `settings`, which is read before the plugin is imported.
    """

    migrations: ClassVar[Sequence[str]] = ()
    """SQL that makes its tables, for SQLite and PostgreSQL alike, oldest first.

    `gateway/store/portable_sql.py` says which SQL. Names of tables and indexes are that of the plugin, or begin with it
    and `_`. Each migration is applied once, when the store is opened, and is never changed afterwards. If it fails,
    nothing is changed, and a plugin of others is left out; with one of ours Parley does not start. On a shared
    database, a change of tables ends the nodes that run then.

    Tables stay when the plugin is gone, are part of backups, and move with `parley migrate`. Rows are read and written
    through a subclass of `gateway.store.table.Table`, which `core.store.table` makes, and in `ended`, `erased` and the
    change of a `Settling` through the connection that these are given. All statements may touch these tables only:
    others raise NotItsTable. `erased` erases what they hold of a person.

    The key of a chat belongs into a column `chat`, and the id of a message there into `message_id`. When a platform
    gives a chat another id, Parley puts the new key into `chat`, unless a unique index has such a row already. Where
    messages have other ids from then on, `message_id` becomes NULL; rows that need one are deleted.
    """
    unfinished: ClassVar[str] = ""
    """The one of its tables that names, in a column `chat`, the chats in which it has something to finish.

    A chat that it names is taken over from a node that died even if nothing else is left to do there: see `taken_over`.
    """
    paths: ClassVar[frozenset[str]] = frozenset()
    """Paths of the `routes` for programs on this machine, such as `/figures`: the server listens before the plugin is
    made. No path may be that of another plugin or of the page."""
    open_paths: ClassVar[Mapping[str, Opening]] = {}
    """Paths of the other `routes`, each with how it is open to programs on other machines, or for visitors of the page.

    Programs reach it where the page is reached from elsewhere, or under the address PARLEY_WEB_PROGRAMS_URL, which
    shows nothing else. Nobody signs in there: the route asks for a key, such as a signature, before it does anything.
    One whose `Opening` is `for_visitors` is reached by scripts of the page alone, and `asked.visitor` says who asks.
    """
    scripts: ClassVar[Mapping[str, Path]] = {}
    """JavaScript modules that the page and *Manage* load behind their own, by paths such as `/tally.js`.

    They run as the page does, with the rights of whoever looks at it. `/net.js` has `read` and `post` for paths that
    are for visitors.
    """

    run_buttons: ClassVar[Sequence[RunButton]] = ()
    """Buttons about a run, each of which gives a command of the plugin, or one of its `presses`, with the run's id.

    `chat`: for everybody below the answer of a run that called tools for long, or the line to which its progress folds.
    `page`: on the run's screen, for who may give the command in its chat. `answer`: two that rate each whole answer
    where the platform has such a pair, the one for a good answer first. A button names a press of the topic `good` of
    the plugin `tally` as `tally_good`, and a command by its name. The command's `rights` are checked, and it checks
    itself whether the person may see that run. Below earlier messages buttons stay when the plugin is gone.
    """

    @classmethod
    def models(cls, settings: CurrentSettings, clock: Clock) -> Sequence[ModelProvider]:
        """Return providers of models, which the settings name as `NAME/MODEL`.

        Asked before the plugin is made, as a model is chosen before the store is opened; `settings` are those of the
        start. No provider may have the name of another, or of one that is built in. A model of a provider is used as
        any other: it is the default, a fallback, or one that people may choose, is paid from the budgets by the prices
        in its properties, and gets requests in which secrets are masked. A look-up that fails, or takes more than 30
        seconds, is told where the model is set. A client that fails, or is silent for longer than it was told to be,
        ends the answer as one that is built in does, and fallbacks are asked.
        """
        return ()

    def __init__(self, core: Core) -> None:
        self.core = core

    def tools(self) -> Sequence[Tool]:
        """Return the tools of all agents: in chats, in tasks and in jobs.

        A call passes the same permissions as that of any other tool, by what the tool says of itself. No name may be
        that of another tool.
        """
        return ()

    def commands(self) -> Sequence[Command]:
        """Return the slash commands.

        Their `rights` say what they do at most and who may give them, and are checked before a command is run,
        wherever it comes from. No name may be that of another command. A failure, or more than five minutes, is logged
        and answered with a sentence; values of an argument that fail or take more than 3 seconds are not offered.
        """
        return ()

    def reports(self) -> Sequence[ReportKind]:
        """Return reports that are made without a model, which `/report NAME` offers to everybody who may have jobs.

        Each is shown from real data before it is set, and then made at its times. `make` is called again with the same
        `firing` if Parley is killed meanwhile; what it remembers of an item has to bear that, for instance as a row
        with the first firing that told it. A ReportRefused is told: as a sentence to who asks, and as the reason of the
        failure when the time has come. Any other failure, or more than a minute, is logged and counts as one. No name
        may be that of another report.
        """
        return ()

    def presses(self) -> Sequence[Press]:
        """Return what is done when somebody presses the plugin's buttons, by their topics.

        A `Button` under any message of the plugin has the `action` that `press_action` returns for its name, a topic
        and a value. Only presses of a button that such a message has now are told, in the order of the chat, with who
        pressed it, their role and language, and the chat. Where there are no buttons, people type the action instead.
        The rights are checked before. Others are answered with a sentence, as are those of a plugin that is gone.

        `run` returns the reply: a `Rewritten` replaces the message with the button. It is called again with the same
        `asked` if Parley is killed before the press is settled. What has to happen once for each press is returned as
        a `Settling`, whose change is made in the transaction that settles it. A failure, or more than 30 seconds, is
        logged and answered with a sentence.
        """
        return ()

    def screens(self) -> Sequence[Screen]:
        """Return the screens of *Manage* on the page, for owners and admins.

        The title of each is the text `page_NAME` of the plugin. A screen that `Waits` has a badge, one that is
        `Grouped` names its group and icon, and one that `Follows` names the screen before it; others stand under
        *System*. It shows a template of the plugin, or tables without one, which `parley.tables_view` makes. Everything
        in a template is escaped, and secrets are masked. What changes something is a command, offered and checked as in
        a chat. What a visitor may read of a chat is for the screen to ask of `parley.Insight`. A failure, and a view
        that takes more than 30 seconds, is logged and told with a code, and all other screens go on. In a template,
        `{{ who | names }}` shows a text of `parley.Insight` with each name in it on one line, as plain tables do.
        """
        return ()

    def routes(self, running: Running) -> Mapping[str, Route]:
        """Return what the page's server answers to programs, each by its path in `paths` or `open_paths`.

        Those in `paths` are asked by GET, without signing in: what not every program here may know needs a token of
        the plugin's own. Who asks from another machine, or by another host name, is refused before. Those in
        `open_paths` are asked by the methods of their `Opening`; a body is read only when the route awaits it, and too
        long ones are refused. A route may raise Refused with its answer. Until Parley runs, the answer is 503. A
        failure, or more than 30 seconds (for open ones those that they name), is logged and answered with 500. Without
        the page there are no routes.
        """
        return {}

    @classmethod
    async def examined(cls, settings: Settings, connection: Connection) -> Sequence[Finding]:
        """Return in English what `parley doctor` finds, which runs beside Parley or without it, and makes no plugin.

        Only plugins that come with Parley are asked, and only if they are on. `connection` reads the store, and
        `findings` has the words in each language.
        """
        return ()

    def duties(self, running: Running) -> Mapping[str, Duty]:
        """Return what runs beside the chats, once among all nodes, by the name under which it is reported.

        One that raises is logged and told to the owners, and begun again after a pause.
        """
        return {}

    def owed(self) -> Mapping[str, Doer]:
        """Return what does each kind of durable work for chats, by the name of the kind.

        What is owed at the end of a run (see `ended`) is done when all messages of its run were sent or given up,
        beside whatever comes next in the chat: at the end of the run, after a restart, and by the process that takes
        the chat over. What `core.owe` records is done at once, and else as that. A doer gets the item, and returns a
        `Post` for each message to the item's chat, which are queued in the transaction that removes the item; or it
        does the work, and returns none. After a crash it is called again with the same item. So what it does beside
        the messages has to bear that.

        Where an agent is needed for it, the doer returns an `Errand`, and the agent works in a run of its own, as
        unattended as that of a job, with the rights of the person in it as of each call. `then` gets the report and
        returns the messages, which are queued in the transaction that ends the run and removes the item. If the errand
        had to wait for others, the doer is asked anew before it is begun.

        One that raises, or takes more than five minutes, is called again after a pause of 1, 10, 60, and then 600
        seconds, or later if a ChannelError says so. After ten attempts, or as many starts of the program that died
        meanwhile, the item is removed, which is logged and told to the owners. What the machine lacked, such as disk
        space, does not count. No kind may be one of another plugin or of Parley. Items of a kind that nobody does stay
        as they are until somebody does it again.
        """
        return {}

    def ended(self, run: Run, how: RunEnd, tx: Connection) -> Iterable[Owed]:
        """Return what the chat is owed at the end of one of its runs: of each whose end is told there, good or bad.

        `how.items` are the numbers of the messages that it has read, by which `moved` told of them.
        Called in the transaction that ends the run and queues its answer, in the thread of the store: it uses nothing
        but `tx` and what may be read from any thread, and returns soon, as all writes wait for it. What it writes
        through `tx` is written together with the end of the run, or not at all; it is called again if that was undone.
        Each item is of a kind in `owed`, and for the chat of the run; its key is one that the same run gives it each
        time. A failure is logged, what was written is undone, and nothing is owed.
        """
        return ()

    def sent(self, post: Post, tx: Connection) -> Iterable[Owed]:
        """Return what a chat is owed for a new message of Parley that has arrived there.

        Told neither of what shows the progress of a run, nor of changes of messages. Called in the transaction that
        records the arrival, under the same conditions as `ended`; what is owed is begun at once. Of messages of which
        nobody knows whether they arrived it is told nothing.
        """
        return ()

    async def hold(self, chat: ChatKey) -> HoldUntil | None:
        """Return why a chat's next run waits, and until when, or None if it may begin.

        Asked before each run that messages or the news of a task begin, of all plugins until one lets it wait, and
        again at the time that this one names: messages stay stored meanwhile, and `/queue` and `/status` tell people
        its text. Nothing is kept over a restart, after which it is asked anew. Runs that were begun, commands, presses,
        jobs and background tasks go on. A failure, or more than 5 seconds, is logged, and lets the run begin.
        """
        return None

    async def hear(self, item: InboxItem, run: Run | None, sound: Sound, language: Language) -> Heard | None:
        """Return what is said in a recording of a message, or None to leave it to others.

        Called outside of any transaction while the prompt is made, for which the chat waits, and again after a crash:
        what was paid for should be kept. `run` is the one that answers, None if there is none yet, and `language` is
        the sender's. The words are masked. Those of a recording of the sender count as written by the sender; other
        recordings are quoted, with their source. A failure, or more than five minutes, is logged, and counts as None,
        except a lack of file handles, after which the run is tried again. If no plugin knows the words, the model is
        told of the file alone.
        """
        return None

    def prompt(self, chat: ChatKey, person: str, history: PromptHistory) -> Awaitable[PromptNote | None] | None:
        """Return a note for the model beside the message of a person with which a run begins.

        `history` is what the model has read. It may be `async def`; one that is `def` returns None at once where it has
        no note. The text is masked, read by the model alone, and part of the conversation from then on, so it is told
        once. What others wrote needs an origin that says so. A failure, or more than 30 seconds, counts as no note.
        """
        return None

    async def read(
        self, item: InboxItem, run: Run | None, file: ReceivedFile, room: int, language: Language
    ) -> FileContents | None:
        """Return what is in a file of a message, or None to leave it to others.

        Asked for each received file but recordings and pictures that the model is shown, outside of any transaction
        while the prompt is made, for which the chat waits, and again after a crash. The file is in the chat's workspace
        already. `room` is the number of characters that the model can still be told with this message; what is longer
        is cut. `run` and `language` are as for `hear`. The text is masked, and counts as input from whoever the file is
        from, never as the sender's word. A failure, or more than two minutes, is logged, and counts as None, except a
        lack of file handles, after which the run is tried again. If no plugin reads it, the model is told of the
        file alone.
        """
        return None

    async def summarised(self, chat: ChatKey, facts: Sequence[str], origin: Origin) -> None:
        """Keep what the summary of a conversation finds worth remembering beyond it.

        Called after a history was shortened, with a line for each fact and the origin of what they were found in.
        Models are asked for facts only where a plugin overrides this. A failure, or more than 5 seconds, is logged.
        """

    def listens(self) -> bool:
        """Return False while its settings leave `reacted` and `moved` nothing to do: they are not called then.

        Called when all plugins are made, and again after each change of the settings. It must return at once. A failure
        is logged, and counts as True.
        """
        return True

    def reacted(self, event: ReactionAdded | ReactionRemoved) -> None:
        """Take note of a reaction to a message that somebody who may speak there has set or taken back.

        Reactions are not stored: one that comes while Parley is down, or that a crash cuts off, may never be told. It
        must return at once. A failure is logged and stops nothing else.
        """

    def moved(self, item: InboxItem, place: Place) -> None:
        """Take note of the place of what waits in a chat: a message, or news of a task or a job.

        Called outside of any transaction, often several times in a row, and with the same place again after a restart
        or a take-over. It must return at once, and starts what takes longer as a task of its own, which `closed` ends.
        What becomes of a message that a run has begun with, or was steered by, is told at the end of the run: see
        `ended`. A failure is logged and stops nothing else.
        """

    async def taken_over(self, chat: ChatKey | None) -> None:
        """Go on with what the plugin left unfinished in a chat, or in all (None), when its process ended or died.

        Called outside of any transaction, before anything else goes on there and before `moved` tells of the messages
        that wait: with None at the start of a process that has the store for itself, and else with each chat that this
        node takes over, if something is left to do in it (see `unfinished`). What follows an answer needs no more than
        `owed`. A failure, or more than 10 seconds, is logged, and the chat goes on.
        """

    async def closed(self) -> None:
        """End what the plugin runs by itself, as Parley ends.

        Called once, when all chats rest and before the platforms are left; not after a crash, so nothing may depend on
        it. A failure, or more than 5 seconds, is logged.
        """

    async def before_call(self, call: Proposal) -> Objection | None:
        """Return what the plugin has against a tool call, or None.

        Asked before every call of a model that Parley itself would make or ask about, after its own decision: in
        chats, tasks and jobs, of tools of plugins and MCP servers too, and again when a restart has cut off the call.
        An objection refuses the call with one of the plugin's texts, or lets people be asked each time, which no
        approval given before answers; jobs cannot ask, so it is refused there. Nothing that Parley refuses or asks
        about becomes looser. A failure, or more than 5 seconds, refuses the call. It gets a copy of the call. Showing
        an earlier run again makes no calls, and asks nothing.
        """
        return None

    def erased(self, forgotten: Forgotten, connection: Connection) -> None:
        """Erase from its tables what a person said, and all rows of their direct chats, for `/forget`.

        Called in the transaction that erases Parley's own rows, once for each of their accounts, and again when a
        backup from before it was restored. It does nothing but write rows. If it raises, nothing is erased, `/forget`
        says so, and it is tried again at each start. A plugin that has tables and does not override it, or that is
        switched off or gone, keeps its rows, and `/forget` names it. Once it is there and overrides it, what it has
        missed is erased at the start.
        """
