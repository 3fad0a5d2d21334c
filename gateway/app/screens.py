"""Builds the admin pages of a running gateway. Imported by name, and only if the page is enabled."""

from channels.web.attachments import Uploads
from gateway.admin.desk import Desk
from gateway.admin.insight import Insight
from gateway.admin.screens.browsers import BrowsersScreen
from gateway.admin.screens.connect import ConnectScreen
from gateway.admin.screens.costs import CostsScreen
from gateway.admin.screens.groups import GroupsScreen
from gateway.admin.screens.health import HealthScreen
from gateway.admin.screens.inbox import InboxScreen
from gateway.admin.screens.log import LogScreen
from gateway.admin.screens.mcp import McpScreen
from gateway.admin.screens.memory import MemoryScreen
from gateway.admin.screens.models import ModelsScreen
from gateway.admin.screens.nodes import NodesScreen
from gateway.admin.screens.people import PeopleScreen
from gateway.admin.screens.runs import RunsScreen
from gateway.admin.screens.schedules import SchedulesScreen
from gateway.admin.screens.settings import SettingsScreen
from gateway.admin.screens.skills import SkillsScreen
from gateway.admin.screens.storage import StorageScreen
from gateway.admin.templates import Templates
from gateway.app.composition import Composition
from gateway.app.page_commands import PageCommands
from gateway.commands.skill_archives import MOST_BYTES
from gateway.connect.guide import Surroundings
from gateway.records.recent_log import RECENT


def desk_of(made: Composition, person: str) -> Desk:
    """Return the desk with all screens. `person` is the name of the person at this machine."""
    insight = Insight(made.access, made.roles)
    inbox = InboxScreen(made.store, made.approvals, made.strangers, insight, made.clock)
    schedules = SchedulesScreen(made.store, made.jobs, insight)
    runs = RunsScreen(made.store, insight, made.roles, made.current, made.clock, made.settings.home)
    memory = MemoryScreen(made.store, made.memories, made.roles, insight)
    people = PeopleScreen(made.roles, made.strangers, made.access)
    costs = CostsScreen(made.store.spending, made.budgets, made.access, insight, made.current, made.clock)
    settings = SettingsScreen(made.live, made.current, made.settings.home, made.secrets)
    skills = SkillsScreen(made.agent_parts.skills, made.store, made.delivery)
    models = ModelsScreen(made.chat_models, made.store, made.delivery, insight)
    groups = GroupsScreen(made.groups.rules, made.store, made.delivery, made.budgets, insight)
    mcp = McpScreen(made.approved, made.agent_parts.others)
    home, secrets = made.settings.home, made.secrets
    storage = StorageScreen(home, made.current, insight, made.access)
    health = HealthScreen(made.about, made.vitals.unready, made.vitals.channels, home, secrets, made.clock)
    log = LogScreen(RECENT, home, secrets)
    connect = ConnectScreen(
        lambda: Surroundings(made.current.now, made.secrets, made.connections, made.clock.time),
        made.channels,
        made.audit.changed,
    )
    commands = PageCommands(made.admission, made.commands, made.chat_commands, made.audit, made.clock)
    nodes = () if made.node_statuses is None else (NodesScreen(made.node_statuses),)
    return Desk(
        screens=(
            inbox,
            schedules,
            runs,
            memory,
            skills,
            people,
            groups,
            costs,
            models,
            connect,
            mcp,
            settings,
            storage,
            health,
            *nodes,
            log,
            BrowsersScreen(made.settings.entrance, made.access),
        ),
        templates=Templates(lambda: made.current.zone, commands.may),
        permit=made.admission.permit,
        run=commands.run,
        uploads=Uploads(made.settings.home / "uploads", MOST_BYTES),
        access=made.access,
        person=person,
        language=made.current.language,
        badges={inbox.name: inbox.waiting, people.name: people.waiting, mcp.name: mcp.waiting},
        feeds={inbox.name: inbox.news, log.name: log.news},
    )
