"""The reports: what each is called, and when it comes. What makes one is imported when it is made."""

from collections.abc import Sequence

from gateway.plugin import Core
from gateway.plugins.reports.table import Told
from gateway.schedule.jobs.report_kinds import MadeReport, ReportKind, ReportOrder


class Kinds:
    """The kinds of reports."""

    def __init__(self, core: Core, told: Told) -> None:
        self._core = core
        self._told = told

    @property
    def all(self) -> Sequence[ReportKind]:
        return (
            ReportKind(
                "weather",
                {"en": "Weather", "zh": "天气"},
                {"en": "the weather of a place for three days", "zh": "某地三天的天气"},
                "30 7 * * *",
                self._weather,
                {
                    "en": "Which place? Say `{slash}report weather every day 7:30 Berlin`.",
                    "zh": "哪个地方？请发送 `{slash}report weather 每天7:30 北京`。",
                },
            ),
            ReportKind(
                "feed",
                {"en": "Feed", "zh": "订阅源"},
                {"en": "what is new in a feed (RSS or Atom)", "zh": "订阅源（RSS 或 Atom）的新内容"},
                "0 8 * * *",
                self._feed,
                {
                    "en": "Which feed? Say `{slash}report feed every day 8:00 https://example.org/feed.xml`.",
                    "zh": "哪个订阅源？请发送 `{slash}report feed 每天8点 https://example.org/feed.xml`。",
                },
            ),
            ReportKind(
                "files",
                {"en": "Files", "zh": "文件"},
                {"en": "which files of this chat are new or changed", "zh": "本聊天中新增或改动的文件"},
                "0 18 * * *",
                self._files,
                {
                    "en": "Which file or folder of this chat? Say `{slash}report files every day 18:00 notes`; `.` is "
                    "all of them.",
                    "zh": "本聊天的哪个文件或文件夹？请发送 `{slash}report files 每天18点 notes`，`.` 表示全部。",
                },
            ),
            ReportKind(
                "github",
                {"en": "GitHub", "zh": "GitHub"},
                {
                    "en": "releases, issues and pull requests of a public repository",
                    "zh": "公开仓库的发布、议题和拉取请求",
                },
                "0 9 * * 1-5",
                self._github,
                {
                    "en": "Which repository? Say `{slash}report github every weekday 9:00 python/cpython`.",
                    "zh": "哪个仓库？请发送 `{slash}report github 工作日9:00 python/cpython`。",
                },
            ),
            ReportKind(
                "week",
                {"en": "Week in review", "zh": "一周回顾"},
                {
                    "en": "what was talked about here in a week, what came by itself, what it cost",
                    "zh": "这里一周内谈了什么、自动发送了什么、花了多少",
                },
                "0 16 * * 5",
                self._week,
            ),
            ReportKind(
                "costs",
                {"en": "Costs", "zh": "费用"},
                {
                    "en": "calls, tokens and money of a week by model: of this group, of you, or of all for admins",
                    "zh": "一周的调用、词元和费用，按模型列出：本群的、您的，管理员看到全部",
                },
                "0 9 * * 1",
                self._costs,
            ),
            ReportKind(
                "calendar",
                {"en": "Calendar", "zh": "日历"},
                {
                    "en": "events of today and tomorrow, from an MCP server of your calendar",
                    "zh": "今天和明天的日程，来自您日历的 MCP 服务器",
                },
                "30 7 * * 1-5",
                self._calendar,
            ),
            ReportKind(
                "mail",
                {"en": "Mail", "zh": "邮件"},
                {
                    "en": "unread mail since the last time, from an MCP server of your mailbox",
                    "zh": "上次以来的未读邮件，来自您邮箱的 MCP 服务器",
                },
                "0 8 * * 1-5",
                self._mail,
            ),
        )

    async def _weather(self, order: ReportOrder) -> MadeReport:
        from gateway.plugins.reports.weather import Weather

        return await Weather(self._core).make(order)

    async def _feed(self, order: ReportOrder) -> MadeReport:
        from gateway.plugins.reports.feed import Feed

        return await Feed(self._core, self._told).make(order)

    async def _files(self, order: ReportOrder) -> MadeReport:
        from gateway.plugins.reports.files import Files

        return await Files(self._core).make(order)

    async def _github(self, order: ReportOrder) -> MadeReport:
        from gateway.plugins.reports.github import GitHub

        return await GitHub(self._core).make(order)

    async def _week(self, order: ReportOrder) -> MadeReport:
        from gateway.plugins.reports.week import Week

        return await Week(self._core).make(order)

    async def _costs(self, order: ReportOrder) -> MadeReport:
        from gateway.plugins.reports.costs import Costs

        return await Costs(self._core).make(order)

    async def _calendar(self, order: ReportOrder) -> MadeReport:
        from gateway.plugins.reports.agenda import Agenda

        return await Agenda(self._core).make(order)

    async def _mail(self, order: ReportOrder) -> MadeReport:
        from gateway.plugins.reports.mail import Mail

        return await Mail(self._core).make(order)
