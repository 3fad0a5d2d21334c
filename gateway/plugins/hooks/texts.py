"""Texts of webhooks."""

TEXTS = {
    "page_hooks": {"en": "Webhooks", "zh": "Webhook 接入"},
    "hooks_usage": {
        "en": "Write `{slash}hook add NAME SENDER`. A name has small letters, digits, - and _. Senders: {senders}; "
        "`other` "
        "is any program that can send a bearer token.",
        "zh": "请发送 `{slash}hook add 名称 来源`。名称由小写字母、数字、- 和 _ 组成。来源：{senders}；"
        "`other` 是任何能发送 Bearer 令牌的程序。",
    },
    "hooks_page_off": {
        "en": "Other programs reach me through the page's server, which is off: set `PARLEY_WEB=on`.",
        "zh": "其他程序要通过网页的服务器访问我，但它已关闭：请设置 `PARLEY_WEB=on`。",
    },
    "hooks_no_private_chat": {
        "en": "I can't show you a secret here, and have no direct chat with you. Write to me there first.",
        "zh": "不能在这里显示密钥，而我和您还没有私聊。请先在私聊中给我发一条消息。",
    },
    "hooks_taken": {
        "en": "There is a webhook of this name here already, or there are {most}. `{slash}hook` lists them.",
        "zh": "这里已有同名的 Webhook，或已达到 {most} 个。`{slash}hook` 可列出它们。",
    },
    "hooks_added": {
        "en": "The webhook **{name}** is set. I have sent you its address and secret in our direct chat. "
        "`{slash}hook post {name} TEXT` says what I tell here, and `{slash}hook ask {name} INSTRUCTION` lets me look "
        "at "
        "each event.",
        "zh": "Webhook **{name}** 已设置，地址和密钥已在私聊中发给您。用 `{slash}hook post {name} 内容` "
        "设定我在这里说什么，用 `{slash}hook ask {name} 指示` 让我查看每个事件。",
    },
    "hooks_shown": {
        "en": "The webhook **{name}** takes events at\n`{address}`",
        "zh": "Webhook **{name}** 在此地址接收事件：\n`{address}`",
    },
    "hooks_secret": {
        "en": "Its secret, which I show only now: `{secret}`",
        "zh": "密钥（只显示这一次）：`{secret}`",
    },
    "hooks_next_github": {
        "en": "On GitHub: *Settings*, *Webhooks*, *Add webhook*. Enter the address as *Payload URL*, the secret, and "
        "the "
        "content type `application/json`.",
        "zh": "在 GitHub 上打开 *Settings*、*Webhooks*、*Add webhook*，把地址填入 *Payload URL*，填写密钥，"
        "内容类型选 `application/json`。",
    },
    "hooks_next_gitlab": {
        "en": "On GitLab: *Settings*, *Webhooks*, *Add new webhook*. Enter the address as *URL* and the secret as "
        "*Secret "
        "token*.",
        "zh": "在 GitLab 上打开 *Settings*、*Webhooks*、*Add new webhook*，把地址填入 *URL*，密钥填入 *Secret token*。",
    },
    "hooks_next_grafana": {
        "en": "In Grafana: *Alerting*, *Contact points*, a new one of the type *Webhook* with the address. Under *HMAC "
        "signature* enter the secret, and `X-Grafana-Alerting-Timestamp` as the timestamp header.",
        "zh": "在 Grafana 中打开 *Alerting*、*Contact points*，新建类型为 *Webhook* 的联络点并填写地址。"
        "在 *HMAC signature* 下填写密钥，时间戳标头填 `X-Grafana-Alerting-Timestamp`。",
    },
    "hooks_next_stripe": {
        "en": "In Stripe: *Developers*, *Webhooks*, *Add endpoint* with the address. Stripe then shows a signing "
        "secret. "
        "Give it to me in our direct chat: `{slash}hook secret {id} whsec_...`",
        "zh": "在 Stripe 中打开 *Developers*、*Webhooks*、*Add endpoint* 并填写地址。Stripe 随后会显示签名密钥，"
        "请在私聊中发给我：`{slash}hook secret {id} whsec_...`",
    },
    "hooks_next_standard": {
        "en": "Enter both at the sender, which signs as Standard Webhooks say. If it makes the secret itself, give "
        "me that "
        "in our direct chat: `{slash}hook secret {id} whsec_...`",
        "zh": "请在按 Standard Webhooks 规范签名的发送方填写这两项。如果密钥由发送方生成，"
        "请在私聊中发给我：`{slash}hook secret {id} whsec_...`",
    },
    "hooks_next_other": {
        "en": "Your program sends POST to the address with `Authorization: Bearer SECRET`. A header `Idempotency-Key` "
        "tells repetitions from new events.",
        "zh": "您的程序以 POST 发送到此地址，并带上 `Authorization: Bearer 密钥`。"
        "标头 `Idempotency-Key` 用来区分重复与新的事件。",
    },
    "hooks_local": {
        "en": "Only programs on this machine reach it now. docs/hooks.md says how others do.",
        "zh": "目前只有本机上的程序可以访问。其他机器如何访问，见 docs/hooks.md。",
    },
    "hooks_none_named": {
        "en": "There is no webhook `{name}` here. `{slash}hook` lists them.",
        "zh": "这里没有名为 `{name}` 的 Webhook。`{slash}hook` 可列出它们。",
    },
    "hooks_too_long": {"en": "That is too long: at most {most} characters.", "zh": "太长了，最多 {most} 个字符。"},
    "hooks_posts": {
        "en": "From now on I tell each event of **{name}** so. `{slash}hook test {name}` shows one.",
        "zh": "今后将这样转述 **{name}** 的每个事件。`{slash}hook test {name}` 可以试一次。",
    },
    "hooks_posts_usual": {
        "en": "From now on I tell each event of **{name}** as is usual for its sender.",
        "zh": "今后将按来源的惯用格式转述 **{name}** 的每个事件。",
    },
    "hooks_ask_what": {
        "en": "What should I do with each event? `{slash}hook ask builds Tell us in two sentences why the build "
        "failed.`",
        "zh": "收到事件时要我做什么？例如 `{slash}hook ask builds 用两句话说明构建为什么失败。`",
    },
    "hooks_asks": {
        "en": "From now on I do that for each event of **{name}**, with your rights and without asking anybody, and "
        "tell "
        "here what I found.",
        "zh": "今后收到 **{name}** 的每个事件时，我会以您的权限执行此指示（不会询问任何人），并在这里说明结果。",
    },
    "hooks_elsewhere": {
        "en": "That has to be done in a chat of the platform on which the webhook tells its events.",
        "zh": "请在该 Webhook 发布事件的平台上操作。",
    },
    "hooks_sample": {"en": "This is a test.", "zh": "这是一次测试。"},
    "hooks_tested": {"en": "A test event of **{name}** is on its way.", "zh": "**{name}** 的测试事件已发出。"},
    "hooks_paused_so": {
        "en": "**{name}** is paused. `{slash}hook resume {name}` lets it take events again.",
        "zh": "**{name}** 已暂停。`{slash}hook resume {name}` 可让它重新接收事件。",
    },
    "hooks_paused": {
        "en": "**{name}** is paused: its sender is refused. `{slash}hook resume {name}` ends that.",
        "zh": "**{name}** 已暂停，会拒绝发送方。`{slash}hook resume {name}` 可恢复。",
    },
    "hooks_resumed": {"en": "**{name}** takes events again.", "zh": "**{name}** 重新开始接收事件。"},
    "hooks_secret_alone": {
        "en": "Others read this chat. Give me that in our direct chat: `{slash}hook secret {id}`, with a secret "
        "behind it "
        "if its sender has made one. If you have written one here, make another.",
        "zh": "这里还有其他人。请在私聊中发送 `{slash}hook secret {id}`；如果密钥由发送方生成，请写在后面。"
        "如果您已在这里写出密钥，请更换一个。",
    },
    "hooks_secret_lost": {
        "en": "I was restarted before I could keep that secret. Please give it again.",
        "zh": "我在保存密钥之前重启了，请再发送一次。",
    },
    "hooks_secret_odd": {
        "en": "A secret is one word of 8 to 200 characters.",
        "zh": "密钥应为一个 8 到 200 个字符的词。",
    },
    "hooks_secret_kept": {"en": "**{name}** goes by that secret now.", "zh": "**{name}** 现在使用此密钥。"},
    "hooks_removed": {
        "en": "The webhook **{name}** is removed. Its sender is refused from now on.",
        "zh": "Webhook **{name}** 已删除，今后会拒绝其发送方。",
    },
    "hooks_none": {
        "en": "No program tells this chat of events. `{slash}hook add builds github` lets GitHub do so.",
        "zh": "还没有程序向本聊天报告事件。例如 `{slash}hook add builds github` 可接入 GitHub。",
    },
    "hooks_list": {"en": "**Webhooks of this chat**", "zh": "**本聊天的 Webhook**"},
    "hooks_row": {
        "en": "**{name}** (no. {id}, {sender}): {does}. Set by {who}, last event: {when}",
        "zh": "**{name}**（编号 {id}，{sender}）：{does}。设置者：{who}；最近事件：{when}",
    },
    "hooks_row_paused": {
        "en": "**{name}** (no. {id}, {sender}), paused: {does}. Set by {who}, last event: {when}",
        "zh": "**{name}**（编号 {id}，{sender}），已暂停：{does}。设置者：{who}；最近事件：{when}",
    },
    "hooks_does_post": {"en": "tells each event", "zh": "转述每个事件"},
    "hooks_does_ask": {"en": "looks at each event: {words}", "zh": "查看每个事件：{words}"},
    "hooks_never": {"en": "none yet", "zh": "还没有"},
    "hooks_set_by": {"en": "webhook {name}, set by {who}", "zh": "Webhook {name}，由 {who} 设置"},
    "hooks_lost": {
        "en": "The last events of the webhook **{name}** did not arrive in {where}: I may not be there any more. I "
        "have paused it; `{slash}hook resume {id}` lets it go on, and `{slash}hook rm {id}` removes it.",
        "zh": "Webhook **{name}** 最近的事件未能送达 {where}，我可能已不在那里。我已将它暂停；"
        "`{slash}hook resume {id}` 可恢复，`{slash}hook rm {id}` 可删除。",
    },
    "hooks_empty": {"en": "An event came without any words.", "zh": "收到一个没有内容的事件。"},
    "hooks_failed": {
        "en": "⚠ I could not look at this event ({reason}). It says:",
        "zh": "⚠ 无法查看此事件（{reason}）。其内容是：",
    },
    "hooks_no_more_runs": {
        "en": "I did not look at it: the limit of the day is reached (`PARLEY_PLUGIN_HOOKS_RUNS_A_DAY`).",
        "zh": "未查看此事件：已达到当天上限（`PARLEY_PLUGIN_HOOKS_RUNS_A_DAY`）。",
    },
    "page_hooks_none": {
        "en": "There are no webhooks yet. /hook add NAME SENDER in a chat sets one.",
        "zh": "还没有 Webhook。在聊天中发送 /hook add 名称 来源 即可设置。",
    },
    "hooks_events": {"en": "The newest {most} events", "zh": "最近 {most} 个事件"},
    "hooks_no_events": {"en": "No event came yet.", "zh": "还没有收到事件。"},
    "hooks_column_name": {"en": "Name", "zh": "名称"},
    "hooks_column_chat": {"en": "Chat", "zh": "聊天"},
    "hooks_column_sender": {"en": "Sender", "zh": "来源"},
    "hooks_column_does": {"en": "Does", "zh": "动作"},
    "hooks_column_who": {"en": "Set by", "zh": "设置者"},
    "hooks_column_when": {"en": "When", "zh": "时间"},
    "hooks_column_event": {"en": "Event", "zh": "事件"},
    "hooks_column_size": {"en": "Size", "zh": "大小"},
    "hooks_column_state": {"en": "State", "zh": "状态"},
    "hooks_button_pause": {"en": "Pause", "zh": "暂停"},
    "hooks_button_resume": {"en": "Resume", "zh": "恢复"},
    "hooks_button_rm": {"en": "Remove", "zh": "删除"},
    "hooks_state_waits": {"en": "waits", "zh": "等待中"},
    "hooks_state_posted": {"en": "told", "zh": "已转述"},
    "hooks_state_answered": {"en": "looked at", "zh": "已查看"},
    "hooks_state_failed": {"en": "could not be looked at", "zh": "查看失败"},
    "hooks_state_no_right": {"en": "dropped: who set it has no right to it any more", "zh": "已丢弃：设置者已没有权限"},
}
