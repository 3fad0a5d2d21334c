"""Texts about who gets into the page: links, browsers, and how others can reach it."""

TEXTS = {
    "entry_open": {"en": "Open Parley in this browser", "zh": "在此浏览器中打开 Parley"},
    "entry_as": {
        "en": "It will act as {who} until you sign it out. If somebody else sent you this link, close this page.",
        "zh": "此浏览器将以 {who} 的身份操作，直到您将其登出。如果链接是别人发给您的，请关闭此页面。",
    },
    "entry_local": {
        "en": "It will act as the owner at this machine until you sign it out.",
        "zh": "此浏览器将以本机所有者的身份操作，直到您将其登出。",
    },
    "entry_button": {"en": "Open Parley", "zh": "打开 Parley"},
    "entry_signed_in": {"en": "This browser is signed in", "zh": "此浏览器已登录"},
    "entry_needs_script": {
        "en": "Parley opens now. This page needs JavaScript: switch it on for this address if nothing happens.",
        "zh": "Parley 即将打开。本页面需要 JavaScript：如果没有反应，请为此地址启用它。",
    },
    "entry_no_token": {
        "en": "Refused: this browser has lost what it got when it signed in. Open a new link (`parley link`) there, "
        "then repeat that.",
        "zh": "已拒绝：此浏览器丢失了登录时得到的凭据。请在其中打开新的链接（`parley link`），然后重试。",
    },
    "entry_refused": {"en": "Open the link that Parley printed", "zh": "请打开 Parley 打印的链接"},
    "entry_stale": {"en": "This link is not valid any more", "zh": "此链接已失效"},
    "entry_how": {
        "en": "Each link works in one browser, once, and most for ten minutes. For a new one run parley link on "
        "Parley's machine, or send it /page in a direct chat (on Slack !page). Only owners and admins can open "
        "this page.",
        "zh": "每个链接只能在一个浏览器中使用一次，多数在十分钟内有效。要获取新链接，请在运行 Parley 的机器上执行 "
        "parley link，或在私聊中发送 /page（在 Slack 上是 !page）。只有所有者和管理员可以打开此页面。",
    },
    "entry_wait": {"en": "Too many wrong links", "zh": "错误链接次数过多"},
    "entry_wait_text": {
        "en": "From your address came too many wrong links. Wait a minute, then open the right one again.",
        "zh": "您的地址打开了过多错误链接。请等待一分钟，然后再打开正确的链接。",
    },
    "entry_link": {
        "en": "Open this in your browser within {minutes} min: {link}\nIt works once, and that browser will act as "
        "you. Do not pass it on.",
        "zh": "请在 {minutes} 分钟内用浏览器打开：{link}\n链接只能使用一次，该浏览器将以您的身份操作，请勿转发。",
    },
    "entry_off": {
        "en": "The page is off. Set `PARLEY_WEB=on` and restart me.",
        "zh": "网页未启用。请设置 `PARLEY_WEB=on` 并重启。",
    },
    "entry_not_reachable": {
        "en": "The page can be reached only from the machine that I run on; `parley link` there opens it. To reach it "
        "from elsewhere, set `PARLEY_WEB_URL` to an https address, with a certificate or a proxy: see docs/page.md.",
        "zh": "目前只能从运行我的机器访问网页，在那里执行 `parley link` 即可打开。要从其他地方访问，请将 "
        "`PARLEY_WEB_URL` 设为 https 地址，并配置证书或代理，见 docs/page.md。",
    },
    "entry_alone": {
        "en": "Others can read this chat, and a link would let them in. Please send me that in a direct chat.",
        "zh": "这里还有其他人，链接会让他们进入。请在私聊中发送。",
    },
    "entry_not_yours": {
        "en": "Only owners and admins can open the page.",
        "zh": "只有所有者和管理员可以打开网页。",
    },
    "entry_browsers": {"en": "These browsers are signed in:", "zh": "已登录的浏览器："},
    "entry_browsers_none": {"en": "No browser is signed in.", "zh": "没有已登录的浏览器。"},
    "entry_browser": {
        "en": "- `{id}` **{name}**, {who}; last used {used} from {place}",
        "zh": "- `{id}` **{name}**，{who}；最近于 {used} 从 {place} 使用",
    },
    "entry_signed_out": {"en": "Signed out: {names}.", "zh": "已登出：{names}。"},
    "entry_renamed": {"en": "Renamed: {name}.", "zh": "已改名：{name}。"},
    "entry_no_browser": {
        "en": "No such browser of yours is signed in. `{slash}page browsers` lists them.",
        "zh": "没有这样的已登录浏览器。`{slash}page browsers` 可列出。",
    },
}
