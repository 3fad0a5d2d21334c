"""The texts of the plugin of MCP servers, and the language in which somebody reads them."""

from gateway.texts.say import LANGUAGES, Language

TEXTS = {
    "mcp_none": {
        "en": "No MCP server is waiting for approval.",
        "zh": "没有需要批准的 MCP 服务器。",
    },
    "mcp_waiting": {
        "en": "These MCP servers have tools that nobody has approved yet: {names}.",
        "zh": "以下 MCP 服务器有尚未批准的工具：{names}。",
    },
    "mcp_shown": {
        "en": "The MCP server `{name}` describes its tools as follows. Approve this only if it contains no "
        "instructions for me:",
        "zh": "MCP 服务器 `{name}` 的工具说明如下。只有在其中没有对我的指令时才批准：",
    },
    "mcp_as_before": {
        "en": "The MCP server `{name}` describes its tools as approved again.",
        "zh": "MCP 服务器 `{name}` 的工具说明已恢复为批准过的内容。",
    },
    "mcp_more": {"en": "{count} more are shown afterwards.", "zh": "另外 {count} 个随后显示。"},
    "mcp_approve_button": {"en": "Approve", "zh": "批准"},
    "mcp_approved": {
        "en": "Approved: the current tools of the MCP server `{name}`. What I wrote after reading the earlier "
        "descriptions still counts as untrusted; `{slash}new` starts without it.",
        "zh": "已批准 MCP 服务器 `{name}` 当前的工具。我此前读过其说明后写的内容仍视为不可信；"
        "`{slash}new` 可重新开始。",
    },
    "mcp_not_yours": {
        "en": "Only an owner can add MCP servers and approve their tools.",
        "zh": "只有所有者可以添加 MCP 服务器并批准其工具。",
    },
    "mcp_add_usage": {
        "en": "`{slash}mcp add NAME ADDRESS` adds one, such as `{slash}mcp add deepwiki https://mcp.deepwiki.com/mcp`. "
        "With `each` behind the address everybody signs in there for themselves. `{slash}mcp rm NAME` removes it.",
        "zh": "`{slash}mcp add 名称 地址` 可添加服务器，例如 `{slash}mcp add deepwiki https://mcp.deepwiki.com/mcp`。"
        "地址后加 `each` 则每个人各自登录。`{slash}mcp rm 名称` 可移除。",
    },
    "mcp_required": {"en": "required", "zh": "必填"},
    "mcp_or": {"en": " or ", "zh": "或"},
    "mcp_type_string": {"en": "text", "zh": "文本"},
    "mcp_type_integer": {"en": "whole number", "zh": "整数"},
    "mcp_type_number": {"en": "number", "zh": "数字"},
    "mcp_type_boolean": {"en": "true or false", "zh": "是或否"},
    "mcp_type_array": {"en": "list", "zh": "列表"},
    "mcp_type_object": {"en": "object", "zh": "对象"},
    "mcp_type_null": {"en": "nothing", "zh": "空"},
    "mcp_more_arguments": {
        "en": "… and {count} more lines of its arguments, which are not shown",
        "zh": "……其参数另有 {count} 行未显示",
    },
    "mcp_not_installed": {
        "en": "The package `mcp` is not installed here; `parley doctor` on this machine prints the command for it.",
        "zh": "这里没有安装软件包 `mcp`；在本机运行 `parley doctor` 可看到安装命令。",
    },
    "mcp_no_name": {
        "en": "`{name}` cannot be the name of a server, as its tools begin with it: at most {most} letters, digits and "
        "hyphens, and none of the words of this command.",
        "zh": "`{name}` 不能作为服务器名称，因为其工具以此开头：最多 {most} 个字母、数字和连字符，"
        "且不能是本命令的用词。",
    },
    "mcp_taken": {
        "en": "There is a server `{name}` already. `{slash}mcp rm` removes one that was added in a chat.",
        "zh": "已有名为 `{name}` 的服务器。`{slash}mcp rm` 可移除在聊天中添加的服务器。",
    },
    "mcp_too_many": {
        "en": "There are {most} added servers already; `{slash}mcp rm NAME` removes one.",
        "zh": "已添加 {most} 个服务器；请先用 `{slash}mcp rm 名称` 移除一个。",
    },
    "mcp_no_address": {
        "en": "That is no address of an MCP server. It looks like `https://mcp.deepwiki.com/mcp`, without a name or "
        "password in it.",
        "zh": "这不是 MCP 服务器的地址。地址形如 `https://mcp.deepwiki.com/mcp`，不含用户名和密码。",
    },
    "mcp_no_https": {
        "en": "The address must begin with https://, as tools and tokens pass through it.",
        "zh": "地址必须以 https:// 开头，因为工具内容和令牌都经由它传输。",
    },
    "mcp_private_address": {
        "en": "A server of a private network is not added in a chat. Whoever runs Parley can name it in parley.toml.",
        "zh": "内部网络的服务器不能在聊天中添加。运行 Parley 的人可以把它写进 parley.toml。",
    },
    "mcp_added": {
        "en": "`{name}` is added. Tools: {count}. I use them, but treat every conversation as containing untrusted "
        "input until you have approved what it says of them.",
        "zh": "已添加 `{name}`，有 {count} 个工具。我可以使用它们，但在您批准其说明之前，"
        "会把所有对话都视为含有不可信内容。",
    },
    "mcp_added_slow": {
        "en": "`{name}` is added, and has not answered yet. I go on trying.",
        "zh": "已添加 `{name}`，它尚未应答，我会继续尝试。",
    },
    "mcp_added_trouble": {
        "en": "`{name}` is added, and cannot be used yet: `{why}`. I go on trying; `{slash}mcp rm {name}` removes it.",
        "zh": "已添加 `{name}`，但暂时无法使用：`{why}`。我会继续尝试；`{slash}mcp rm {name}` 可移除。",
    },
    "mcp_not_added": {
        "en": "No server `{name}` was added in a chat. Those in parley.toml are removed there.",
        "zh": "没有在聊天中添加过名为 `{name}` 的服务器。parley.toml 中的服务器需在该文件中移除。",
    },
    "mcp_removed": {"en": "`{name}` is removed.", "zh": "已移除 `{name}`。"},
    "mcp_line": {"en": "- `{name}`, `{url}`: {state}", "zh": "- `{name}`，`{url}`：{state}"},
    "mcp_state_tools": {"en": "works (tools: {count})", "zh": "{count} 个工具"},
    "mcp_added_sign_in": {
        "en": "`{name}` is added, and asks who uses it.",
        "zh": "已添加 `{name}`，它要求登录。",
    },
    "mcp_added_each": {
        "en": "`{name}` is added. Everybody who wants to use it signs in there for themselves.",
        "zh": "已添加 `{name}`。想使用的人需各自登录。",
    },
    "mcp_state_sign_in": {"en": "waits for somebody to sign in", "zh": "等待登录"},
    "mcp_state_each": {"en": "everybody signs in for themselves", "zh": "每个人各自登录"},
    "mcp_sign_in_button": {"en": "Sign in", "zh": "登录"},
    "mcp_sign_in_again": {
        "en": "Sign in to `{name}` again: it does not let me in any more.",
        "zh": "请重新登录 `{name}`：它不再允许我访问。",
    },
    "mcp_sign_in_first": {
        "en": "Sign in to `{name}`, so that I can use it for you.",
        "zh": "请登录 `{name}`，我才能为您使用它。",
    },
    "mcp_in_link": {
        "en": "{link} to `{name}`. Do not pass the link on: whoever signs in with it lends their account to me.",
        "zh": "{link} `{name}`。请勿转发此链接：用它登录的人会把自己的账号借给我使用。",
    },
    "mcp_in_here": {"en": "Sign in here", "zh": "在此登录"},
    "mcp_in_minutes": {"en": "It is good for {minutes} minutes.", "zh": "链接在 {minutes} 分钟内有效。"},
    "mcp_in_local": {
        "en": "Open it in a browser on the machine on which I run, as others cannot reach me.",
        "zh": "请在我所在的机器上用浏览器打开，其他机器无法访问我。",
    },
    "mcp_in_sent": {
        "en": "I have sent you a link in private, with which you sign in to `{name}`.",
        "zh": "我已私下发给您登录 `{name}` 的链接。",
    },
    "mcp_in_no_private_chat": {
        "en": "The link to sign in with is for you alone. Write to me in private first, then try again.",
        "zh": "登录链接只能给您本人。请先私下给我发一条消息，然后重试。",
    },
    "mcp_in_failed": {
        "en": "You cannot sign in to `{name}` now: `{why}`.",
        "zh": "目前无法登录 `{name}`：`{why}`。",
    },
    "mcp_in_not_yours": {
        "en": "Only an owner signs in to a server that everybody uses with one account.",
        "zh": "所有人共用一个账号的服务器，只能由所有者登录。",
    },
    "mcp_in_page_off": {
        "en": "The browser comes back to my page, which is off here; PARLEY_WEB=on switches it on.",
        "zh": "浏览器需要返回我的页面，而页面在这里已关闭；PARLEY_WEB=on 可开启。",
    },
    "mcp_signed_in": {
        "en": "`{name}` can be used now. Tools: {count}.",
        "zh": "现在可以使用 `{name}`，有 {count} 个工具。",
    },
    "mcp_signed_in_trouble": {
        "en": "The sign-in to `{name}` is kept, and the server does not answer yet. I go on trying.",
        "zh": "已保存 `{name}` 的登录，但服务器尚未应答，我会继续尝试。",
    },
    "mcp_out": {
        "en": "You are signed out of `{name}`, and what it gave me is revoked.",
        "zh": "已退出 `{name}`，它给我的授权已撤销。",
    },
    "mcp_out_here": {
        "en": "You are signed out of `{name}` here. It has not confirmed that what it gave me is revoked: look there, "
        "among the apps of your account.",
        "zh": "已在此退出 `{name}`，但它没有确认授权已撤销：请在该服务的账号设置中查看已授权的应用。",
    },
    "mcp_out_nobody": {"en": "You are not signed in to `{name}`.", "zh": "您没有登录 `{name}`。"},
    "mcp_lost_right": {
        "en": "I do not use your account at `{name}` any more, and have signed out there: you have lost the right to "
        "sign in to it.",
        "zh": "我不再使用您在 `{name}` 的账号，并已退出登录：您已没有登录它的权限。",
    },
    "mcp_lost_account": {
        "en": "{who} had signed in to `{name}` for everybody, and is no owner any more. I have signed out there. "
        "Nobody can use it until an owner signs in.",
        "zh": "{who} 曾为所有人登录 `{name}`，但已不再是所有者，我已退出登录。在有所有者登录之前，谁都无法使用它。",
    },
    "mcp_page_title": {"en": "Sign in", "zh": "登录"},
    "mcp_page_ask": {
        "en": "{who} asked Parley to use {name} ({host}) in their name. Go on only if that is you.",
        "zh": "{who} 请 Parley 以其名义使用 {name}（{host}）。只有在您就是此人时才继续。",
    },
    "mcp_page_ask_all": {
        "en": "{who} asked Parley to use {name} ({host}) for everybody who talks with it, with the account that you "
        "have just signed in with. Go on only if you are {who}.",
        "zh": "{who} 请 Parley 用您刚才登录的账号，为所有与它交谈的人使用 {name}（{host}）。"
        "只有在您就是 {who} 时才继续。",
    },
    "mcp_page_yes": {"en": "Yes, that is me", "zh": "是我，继续"},
    "mcp_page_done": {
        "en": "You are signed in to {name}. Go back to the chat; this page can be closed.",
        "zh": "您已登录 {name}。请返回聊天，此页面可以关闭。",
    },
    "mcp_page_gone": {
        "en": "This sign-in has ended, or was done before. Ask for another one in the chat.",
        "zh": "此次登录已过期或已完成。请在聊天中重新发起。",
    },
    "mcp_page_refused": {
        "en": "Parley was not signed in to {name}: the server did not agree.",
        "zh": "Parley 没有登录 {name}：服务器未同意。",
    },
    "mcp_page_no_right": {"en": "You may not use {name} any more.", "zh": "您已无权使用 {name}。"},
    "mcp_page_failed": {"en": "The sign-in to {name} failed: {why}.", "zh": "登录 {name} 失败：{why}。"},
    "page_mcp": {"en": "MCP servers", "zh": "MCP 服务器"},
    "page_mcp_none": {
        "en": "No MCP server is set up. Add one here, or write a table [mcp.NAME] with command or url in parley.toml.",
        "zh": "没有配置 MCP 服务器。可在此添加，或在 parley.toml 中写入表 [mcp.NAME]，写明 command 或 url。",
    },
    "page_mcp_connected": {"en": "connected", "zh": "已连接"},
    "page_mcp_down": {
        "en": "not connected; Parley tries again by itself. Its reason is in the log.",
        "zh": "未连接，Parley 会自动重试，原因见日志。",
    },
    "page_mcp_why": {
        "en": "not connected; Parley tries again by itself: {why}.",
        "zh": "未连接，Parley 会自动重试：{why}。",
    },
    "page_mcp_waiting": {
        "en": "It has changed what it says of its tools. Until you approve that, its words count as a stranger's.",
        "zh": "它更改了工具说明。在您批准之前，这些说明按陌生人的内容处理。",
    },
    "page_mcp_look": {"en": "Look at the changes", "zh": "查看更改"},
    "page_mcp_tools": {"en": "Tools: {count}", "zh": "工具：{count}"},
    "page_mcp_left_out": {"en": "Tools that cannot be used: {count}", "zh": "无法使用的工具：{count}"},
    "page_mcp_new": {"en": "not approved yet", "zh": "尚未批准"},
    "page_mcp_add": {"en": "Add a server", "zh": "添加服务器"},
    "page_mcp_add_about": {
        "en": "Its tools are offered once it answers, and you approve what it says of them. A program on this machine "
        "is added in parley.toml only.",
        "zh": "服务器应答后即提供其工具，其说明由您批准。本机上的程序只能在 parley.toml 中添加。",
    },
    "page_mcp_name": {"en": "Name", "zh": "名称"},
    "page_mcp_address": {"en": "Address", "zh": "地址"},
    "page_mcp_known": {"en": "Well-known servers", "zh": "常用服务器"},
    "page_mcp_account": {"en": "Account there", "zh": "使用的账号"},
    "page_mcp_shared": {"en": "one for everybody", "zh": "所有人共用"},
    "page_mcp_each": {"en": "everybody has their own", "zh": "每个人各自的"},
    "page_mcp_in": {"en": "Sign in", "zh": "登录"},
    "page_mcp_out": {"en": "Sign out", "zh": "退出"},
    "page_mcp_remove": {"en": "Remove", "zh": "移除"},
    "page_mcp_added": {"en": "added here: {url}", "zh": "在此添加：{url}"},
}

FINDINGS = (
    {
        "en": "MCP server {name} does not let in who has signed in any more: {why}",
        "zh": "MCP 服务器 {name} 不再允许已登录的账号访问：{why}",
    },
    {"en": "sign in again with /mcp in {name}", "zh": "请用 /mcp in {name} 重新登录"},
    {
        "en": "MCP server {name} answers, and nobody has signed in to it",
        "zh": "MCP 服务器 {name} 有应答，但还没有人登录",
    },
    {"en": "people do with /mcp in {name}", "zh": "请各自用 /mcp in {name} 登录"},
    {"en": "MCP server {name} asks for a sign-in", "zh": "MCP 服务器 {name} 要求登录"},
    {"en": "an owner signs in with /mcp in {name}", "zh": "请所有者用 /mcp in {name} 登录"},
    {
        "en": "MCP server {name} refuses the sign-in that is stored",
        "zh": "MCP 服务器 {name} 拒绝已保存的登录",
    },
    {
        "en": "MCP server {name} answers; its access has ended, and is renewed with the next call",
        "zh": "MCP 服务器 {name} 有应答；访问权限已到期，下次调用时会续期",
    },
    {
        "en": "MCP server {name}: tools that are not approved as they are now: {count}",
        "zh": "MCP 服务器 {name}：{count} 个工具的现有说明尚未批准",
    },
    {"en": "an owner looks with /mcp {name}", "zh": "请所有者用 /mcp {name} 查看"},
)
"""The findings for `parley doctor`, and their remedies."""


def reading(tag: str | None, default: Language) -> Language:
    """Return the language for a tag such as `zh-hans`; for others the default."""
    prefix = (tag or "").partition("-")[0].lower()
    return next((each for each in LANGUAGES if each == prefix), default)
