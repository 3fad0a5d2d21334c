"""Texts of the reports that need no model."""

TEXTS = {
    "reports_unreadable": {"en": "That could not be read: {why}.", "zh": "无法读取：{why}。"},
    "reports_odd": {"en": "{url} sent an answer that I cannot read.", "zh": "{url} 的答复无法读取。"},
    "reports_more": {"en": "and {count} more", "zh": "另有 {count} 项"},
    "reports_no_place": {"en": "I found no place called {name}.", "zh": "没有找到名为 {name} 的地方。"},
    "reports_many_places": {"en": "There are several places called {name}.", "zh": "有多个名为 {name} 的地方。"},
    "reports_weather": {"en": "**Weather in {place}**", "zh": "**{place} 的天气**"},
    "reports_weather_head": {
        "en": "| day | weather | °C | chance of rain | wind |",
        "zh": "| 日期 | 天气 | °C | 降水概率 | 风速 |",
    },
    "reports_weather_from": {"en": "_From Open-Meteo.com_", "zh": "_数据来自 Open-Meteo.com_"},
    "reports_sky_clear": {"en": "☀️ clear", "zh": "☀️ 晴"},
    "reports_sky_fair": {"en": "🌤️ partly cloudy", "zh": "🌤️ 多云间晴"},
    "reports_sky_cloudy": {"en": "☁️ cloudy", "zh": "☁️ 阴"},
    "reports_sky_fog": {"en": "🌫️ fog", "zh": "🌫️ 雾"},
    "reports_sky_drizzle": {"en": "🌦️ drizzle", "zh": "🌦️ 毛毛雨"},
    "reports_sky_rain": {"en": "🌧️ rain", "zh": "🌧️ 雨"},
    "reports_sky_snow": {"en": "🌨️ snow", "zh": "🌨️ 雪"},
    "reports_sky_showers": {"en": "🌦️ showers", "zh": "🌦️ 阵雨"},
    "reports_sky_storm": {"en": "⛈️ thunderstorm", "zh": "⛈️ 雷暴"},
    "reports_sky_unknown": {"en": "not known", "zh": "未知"},
    "reports_feed": {"en": "**New in {title}**", "zh": "**{title} 的新内容**"},
    "reports_no_feed": {
        "en": "{url} is no feed (RSS or Atom). For a web page, use the report *page*.",
        "zh": "{url} 不是订阅源（RSS 或 Atom）。网页请使用报告 *page*。",
    },
    "reports_files": {"en": "**Changed in {path}: {count}**", "zh": "**{path} 中的改动：{count} 项**"},
    "reports_files_head": {"en": "| file | changed | size |", "zh": "| 文件 | 改动时间 | 大小 |"},
    "reports_no_file": {"en": "This chat has no file or folder {path}.", "zh": "本聊天没有文件或文件夹 {path}。"},
    "reports_github": {"en": "**News of {name}**", "zh": "**{name} 的动态**"},
    "reports_no_repository": {
        "en": "GitHub has no public repository {name}. Write it as `owner/name`.",
        "zh": "GitHub 上没有公开仓库 {name}。请写成 `所有者/名称`。",
    },
    "reports_github_busy": {
        "en": "GitHub answers only 60 questions an hour from one address, and these are used up. It is asked again "
        "next time.",
        "zh": "GitHub 对同一地址每小时只答复 60 次，现已用完。下次会再询问。",
    },
    "reports_releases": {"en": "*Releases: {count}*", "zh": "*发布：{count}*"},
    "reports_pulls": {"en": "*New pull requests: {count}*", "zh": "*新的拉取请求：{count}*"},
    "reports_issues": {"en": "*New issues: {count}*", "zh": "*新议题：{count}*"},
    "reports_closed": {"en": "Closed: {count}", "zh": "已关闭：{count}"},
    "reports_week": {"en": "**The week here, {first} – {last}**", "zh": "**这里的一周，{first} – {last}**"},
    "reports_week_head": {"en": "| what | how much |", "zh": "| 项目 | 数量 |"},
    "reports_week_talks": {"en": "conversations", "zh": "会话"},
    "reports_week_answers": {"en": "answers", "zh": "回答"},
    "reports_week_came": {"en": "reminders and reports", "zh": "提醒和报告"},
    "reports_week_failed": {"en": "reports that failed", "zh": "失败的报告"},
    "reports_week_tokens": {"en": "tokens", "zh": "词元"},
    "reports_week_cost": {"en": "cost", "zh": "费用"},
    "reports_week_titles": {"en": "*What it was about*", "zh": "*谈到的内容*"},
    "reports_costs_all": {"en": "**Costs of all, {first} – {last}**", "zh": "**全部费用，{first} – {last}**"},
    "reports_costs_chat": {
        "en": "**Costs of this chat, {first} – {last}**",
        "zh": "**本聊天的费用，{first} – {last}**",
    },
    "reports_costs_person": {"en": "**Your costs, {first} – {last}**", "zh": "**您的费用，{first} – {last}**"},
    "reports_costs_none": {"en": "No model was called.", "zh": "没有调用模型。"},
    "reports_costs_total": {"en": "all", "zh": "合计"},
    "reports_costs_head": {"en": "| model | calls | tokens | cost |", "zh": "| 模型 | 调用 | 词元 | 费用 |"},
    "reports_calendar": {"en": "**Calendar**", "zh": "**日历**"},
    "reports_all_day": {"en": "all day:", "zh": "全天："},
    "reports_mail": {"en": "**Unread mail: {count}**", "zh": "**未读邮件：{count} 封**"},
    "reports_mail_head": {"en": "| from | subject | when |", "zh": "| 发件人 | 主题 | 时间 |"},
    "reports_from_server": {"en": "_From {name}_", "zh": "_来自 {name}_"},
    "reports_no_calendar": {
        "en": "I know no MCP server with a calendar. An owner adds one with `{slash}mcp add NAME https://...`.",
        "zh": "我还没有带日历的 MCP 服务器。请所有者用 `{slash}mcp add 名称 https://...` 添加。",
    },
    "reports_no_mail": {
        "en": "I know no MCP server with a mailbox. An owner adds one with `{slash}mcp add NAME https://...`.",
        "zh": "我还没有带邮箱的 MCP 服务器。请所有者用 `{slash}mcp add 名称 https://...` 添加。",
    },
    "reports_sign_in": {
        "en": "Somebody has to sign in first: {names}. Then ask again.",
        "zh": "需要先登录：{names}。登录后请重试。",
    },
    "reports_no_such_server": {
        "en": "There is no MCP server called {name}.",
        "zh": "没有名为 {name} 的 MCP 服务器。",
    },
    "reports_which_server": {
        "en": "Several MCP servers have that. Which one?",
        "zh": "有多个 MCP 服务器可用。用哪一个？",
    },
    "reports_server_away": {
        "en": "The MCP server {name} cannot be used now: {why}.",
        "zh": "MCP 服务器 {name} 现在无法使用：{why}。",
    },
    "reports_calendar_unknown": {
        "en": "I find no tool at {names} that lists events and that I can call without a model. A report of your own "
        "uses one: `{slash}report every weekday 7:30 what is in my calendar today`.",
        "zh": "在 {names} 没有找到不用模型就能调用的日程列表工具。"
        "您自己的报告会使用模型：`{slash}report 工作日7:30 我今天有哪些日程`。",
    },
    "reports_mail_unknown": {
        "en": "I find no tool at {names} that lists mail and that I can call without a model. A report of your own "
        "uses one: `{slash}report every weekday 8:00 which mail is unread`.",
        "zh": "在 {names} 没有找到不用模型就能调用的邮件列表工具。"
        "您自己的报告会使用模型：`{slash}report 工作日8:00 有哪些未读邮件`。",
    },
    "reports_odd_tool": {
        "en": "{tool} of {name} answers in a form that I cannot read without a model.",
        "zh": "{name} 的 {tool} 返回的内容无法在不用模型的情况下读取。",
    },
}
