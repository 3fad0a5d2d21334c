"""Builds the admin pages of a running gateway. Imported by name, and only if the page is enabled."""

from collections.abc import Collection, Mapping, Sequence
from itertools import chain

import structlog

from channels.web.attachments import Uploads
from gateway.admin.desk import Desk
from gateway.admin.finder import Finder
from gateway.admin.insight import Insight
from gateway.admin.screen import Feed, Follows, Screen, Waits
from gateway.admin.screens.browsers import BrowsersScreen
from gateway.admin.screens.connect import ConnectScreen
from gateway.admin.screens.health import HealthScreen
from gateway.admin.screens.inbox import InboxScreen
from gateway.admin.screens.log import LogScreen
from gateway.admin.screens.models import ModelsScreen
from gateway.admin.screens.nodes import NodesScreen
from gateway.admin.screens.overview import OverviewScreen
from gateway.admin.screens.people import PeopleScreen
from gateway.admin.screens.plugins import PluginsScreen
from gateway.admin.screens.runs import RunsScreen
from gateway.admin.screens.schedules import SchedulesScreen
from gateway.admin.screens.settings import SettingsScreen
from gateway.admin.screens.skills import SkillsScreen
from gateway.admin.state import State
from gateway.admin.templates import Templates
from gateway.app.composition import Gateway
from gateway.app.page_commands import PageCommands
from gateway.app.plugins import run_buttons_of
from gateway.commands.skill_archives import MOST_BYTES
from gateway.connect.guide import Surroundings
from gateway.permissions.approved_plugins import ApprovedPlugins
from gateway.records.recent_log import RECENT

logger = structlog.get_logger(__name__)


def desk_of(made: Gateway, person: str) -> Desk:
    """Return the desk with all screens. `person` is the name of the person at this machine."""
    base, access, roles = made.base, made.people.access, made.people.roles
    store, clock, current, home = base.store, base.clock, base.current, base.home
    delivery, secrets = base.delivery, base.secrets
    insight = Insight(access, roles)
    inbox = InboxScreen(store, made.guards.approvals, made.people.strangers, insight, clock)
    schedules = SchedulesScreen(store, made.jobs.jobs, insight)
    offered = run_buttons_of(made.plugins)
    runs = RunsScreen(store, insight, roles, current, clock, home, offered=offered)
    people = PeopleScreen(roles, made.people.strangers, access)
    settings = SettingsScreen(made.agents.live, current, home, secrets)
    skills = SkillsScreen(made.agents.parts.skills, store, delivery)
    models = ModelsScreen(made.agents.chat_models, store, delivery, insight)
    plugins = PluginsScreen(made.commands.plugins, ApprovedPlugins(home), secrets)
    health = HealthScreen(base.about, made.serving.readiness.unready, made.serving.readiness.channels, home, secrets)
    log = LogScreen(RECENT, home, secrets)
    connect = ConnectScreen(
        lambda: Surroundings(
            current.now, secrets, made.serving.connections, clock.time, base.system.plugins.models.all
        ),
        base.channels,
        base.audit.changed,
        lambda: base.about().is_ai,
    )
    commands = PageCommands(made.events.admission, made.commands.table, made.events.chat_commands, base.audit, clock)
    nodes = () if base.node_statuses is None else (NodesScreen(base.node_statuses),)
    ours: tuple[Screen, ...] = (
        inbox,
        schedules,
        runs,
        skills,
        people,
        models,
        connect,
        plugins,
        settings,
    )
    last: tuple[Screen, ...] = (health, *nodes, log, BrowsersScreen(base.settings.entrance, access))
    added = _of_plugins(made.serving.screens, {each.name for each in (*ours, *last)})
    others = (*_placed(ours, [screen for screen, _ in added]), *last)
    badges = {each.name: each.waiting for each in others if isinstance(each, Waits)}
    elsewhere = {name: each for name, each in badges.items() if name not in (inbox.name, people.name)}
    overview = OverviewScreen(
        _state(made),
        store,
        insight,
        made.guards.budgets,
        waiting=elsewhere,
        inbox=inbox.news,
        has_costs=any(each.name == "costs" for each in others),
    )
    return Desk(
        screens=(overview, *others),
        templates=Templates(lambda: current.zone, commands.may, secrets, clock.time),
        permit=made.events.admission.permit,
        run=commands.run,
        uploads=Uploads(home / "uploads", MOST_BYTES),
        access=access,
        person=person,
        language=current.language,
        badges=badges,
        suppliers={screen.name: plugin for screen, plugin in added},
        failures=base.system.plugins.failures,
        feeds={
            inbox.name: inbox.news,
            log.name: log.news,
            connect.name: connect.offered,
            "find": _finder(made, (overview, *others)),
        },
    )


def _finder(made: Gateway, screens: Sequence[Screen]) -> Feed:
    names = [each.name for each in screens]
    base, people = made.base, made.people
    return Finder(names, base.store, made.commands.table, people.access, people.roles, base.secrets).news


def _state(made: Gateway) -> State:
    base, readiness, chain = made.base, made.serving.readiness, made.agents.chat_models.chain
    return State(base.about, readiness.unready, readiness.channels, chain.resting, base.current, base.clock, base.home)


def _placed(ours: Sequence[Screen], added: Sequence[Screen]) -> Sequence[Screen]:
    """Return the screens of Parley, each with those of plugins behind it that name it, and then the others."""
    names = {screen.name for screen in ours}
    behind: dict[str, list[Screen]] = {name: [] for name in ("", *names)}
    for screen in added:
        behind[screen.after if isinstance(screen, Follows) and screen.after in names else ""].append(screen)
    return [*chain.from_iterable((screen, *behind[screen.name]) for screen in ours), *behind[""]]


def _of_plugins(screens: Mapping[str, Sequence[Screen]], taken: Collection[str]) -> Sequence[tuple[Screen, str]]:
    """Return the screens of plugins, each with its plugin, without those whose names are taken."""
    found = [(screen, plugin) for plugin, each in screens.items() for screen in each]
    for screen, plugin in found:
        if screen.name in taken:
            logger.warning("a screen is left out, as Parley has one of its name", screen=screen.name, plugin=plugin)
    return [(screen, plugin) for screen, plugin in found if screen.name not in taken]
