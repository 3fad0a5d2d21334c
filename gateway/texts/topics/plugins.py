"""Texts about plugins."""

TEXTS = {
    "plugin_left_out": {
        "en": "The plugin {name} is left out: {reason}. Everything else works without it.",
        "zh": "插件 {name} 未加载：{reason}。其他功能不受影响。",
    },
    "plugin_changed": {
        "en": "What is installed of the plugin {name} is not what was approved, so it is left out: {reason}. "
        "Everything else works without it. Approve it only if you trust this version: its code runs with all of "
        "Parley's rights.",
        "zh": "插件 {name} 已安装的内容与批准的不同，因此未加载：{reason}。其他功能不受影响。"
        "请仅在信任该版本时批准：它的代码拥有 Parley 的全部权限。",
    },
    "plugin_failed": {
        "en": "The plugin {name} failed and could not do that. The log says why: please tell an owner.",
        "zh": "插件 {name} 出错，未能完成此操作。日志中有原因，请告知所有者。",
    },
    "plugin_failed_owner": {
        "en": "The plugin {name} failed and could not do that. {slash}plugins {name} tells why.",
        "zh": "插件 {name} 出错，未能完成此操作。发送 {slash}plugins {name} 可查看原因。",
    },
    "plugin_command_absent": {
        "en": "{slash}{command} cannot be used at the moment. An owner of this Parley can change that.",
        "zh": "{slash}{command} 目前无法使用，请联系 Parley 的所有者。",
    },
    "plugin_command_changed": {
        "en": "{slash}{command} is a command of the plugin {name}, which waits for your approval: other files of it "
        "are installed than were approved. {slash}plugins {name} shows them, with a button; once approved, they are "
        "loaded at the next start.",
        "zh": "{slash}{command} 是插件 {name} 的命令。该插件已安装的文件与批准过的不同，正在等待您批准。"
        "发送 {slash}plugins {name} 可查看并批准，批准后下次启动时加载。",
    },
    "plugin_command_approved": {
        "en": "{slash}{command} is a command of the plugin {name}, which is approved, and loaded at the next start of "
        "Parley.",
        "zh": "{slash}{command} 是插件 {name} 的命令，该插件已批准，下次启动 Parley 时加载。",
    },
    "plugin_command_off": {
        "en": "{slash}{command} is a command of the plugin {name}, which is switched off. To use it, take {name} out "
        "of PARLEY_PLUGINS_OFF and start Parley again.",
        "zh": "{slash}{command} 是插件 {name} 的命令，该插件已停用。如需使用，请从 PARLEY_PLUGINS_OFF 中去掉 {name}，"
        "然后重新启动 Parley。",
    },
    "plugin_command_left_out": {
        "en": "{slash}{command} is a command of the plugin {name}, which is left out at this start. "
        "{slash}plugins {name} tells why, and what to do.",
        "zh": "{slash}{command} 是插件 {name} 的命令，该插件本次启动未加载。"
        "发送 {slash}plugins {name} 可查看原因和处理办法。",
    },
    "button_gone": {
        "en": "This button does nothing now: what it belongs to is removed, switched off or waits for an owner's "
        "approval.",
        "zh": "此按钮目前无效：它所属的功能已被移除、停用，或正在等待所有者批准。",
    },
    "button_over": {
        "en": "This button does nothing any more: its message has changed since or was erased.",
        "zh": "此按钮已失效：它所在的消息已更新或被删除。",
    },
    "page_plugins": {"en": "Plugins", "zh": "插件"},
    "page_plugins_how": {
        "en": "One that has changed is loaded at the next start after you have approved it. Failures are those since "
        "the start of this process; earlier ones are in the log.",
        "zh": "有变动的插件在批准后，下次启动时加载。这里只显示本次启动以来的失败，更早的见日志。",
    },
    "page_plugins_owners": {"en": "Only owners see the plugins.", "zh": "只有所有者可以查看插件。"},
    "page_plugins_state": {"en": "State", "zh": "状态"},
    "page_plugins_adds": {"en": "Adds", "zh": "提供"},
    "page_plugins_failure": {"en": "Last failures", "zh": "最近的失败"},
    "plugins_title": {"en": "**Plugins**", "zh": "**插件**"},
    "plugins_none": {"en": "There are no plugins.", "zh": "没有插件。"},
    "plugins_unknown": {
        "en": "There is no plugin {name}. There are: {names}.",
        "zh": "没有名为 {name} 的插件。现有插件：{names}。",
    },
    "plugins_line": {"en": "- **{name}** ({whose}): {state}", "zh": "- **{name}**（{whose}）：{state}"},
    "plugins_line_short": {"en": "- **{name}**: {state}", "zh": "- **{name}**：{state}"},
    "plugins_at_work": {"en": "- On: {names}", "zh": "- 已启用：{names}"},
    "plugins_line_failed": {"en": "{line}. {failed}", "zh": "{line}。{failed}"},
    "plugins_ours": {"en": "comes with Parley", "zh": "Parley 自带"},
    "plugins_of_others": {"en": "of others", "zh": "第三方"},
    "plugins_content": {
        "en": "of others, {package} {version}, digest {code}",
        "zh": "第三方，{package} {version}，摘要 {code}",
    },
    "plugins_on": {"en": "on", "zh": "已启用"},
    "plugins_off": {"en": "switched off", "zh": "已停用"},
    "plugins_changed": {
        "en": "changed, waits for approval. Approved was {before}, digest {code}.",
        "zh": "有变动，等待批准。已批准的是 {before}，摘要 {code}。",
    },
    "plugins_approved_now": {
        "en": "approved, and loaded at the next start",
        "zh": "已批准，下次启动时加载",
    },
    "plugins_not_named": {
        "en": "installed, but not loaded: PARLEY_PLUGINS does not name it. Add it there if you trust it, and start "
        "Parley again.",
        "zh": "已安装但未加载：PARLEY_PLUGINS 中没有它。如果信任它，请加上其名称，然后重新启动 Parley。",
    },
    "plugins_left_out": {"en": "left out: {reason}", "zh": "未加载：{reason}"},
    "plugins_newer_waits": {
        "en": "Installed now: {content}. It waits for approval, and this one goes on until the next start.",
        "zh": "现已安装：{content}，等待批准；下次启动前仍使用当前版本。",
    },
    "plugins_newer_approved": {
        "en": "Installed now: {content}. It is approved, and loaded at the next start.",
        "zh": "现已安装：{content}，已批准，下次启动时加载。",
    },
    "plugins_failed": {"en": "Failed, {when}, in {where}: {reason}", "zh": "失败（{when}，{where}）：{reason}"},
    "plugins_failed_often": {
        "en": "Failed {count} times, last {when}, in {where}: {reason}",
        "zh": "失败 {count} 次（最近一次 {when}，{where}）：{reason}",
    },
    "plugins_left_out_do": {"en": "What to do: {check} tells it.", "zh": "处理办法：运行 {check} 查看。"},
    "plugins_failed_do": {
        "en": "What to do: the log has the whole error for its authors. {off} switches the plugin off.",
        "zh": "处理办法：日志中有完整的错误信息，可提供给插件作者。设置 {off} 可停用该插件。",
    },
    "page_plugins_times": {"en": "{count} times, last", "zh": "{count} 次，最近一次"},
    "plugins_with_rights": {"en": "{name} ({rights})", "zh": "{name}（{rights}）"},
    "plugins_does_talk": {"en": "talks", "zh": "对话"},
    "plugins_does_read": {"en": "reads", "zh": "读取"},
    "plugins_does_write": {"en": "changes", "zh": "更改"},
    "plugins_does_net": {"en": "sends to other machines", "zh": "向其他机器发送"},
    "plugins_does_exec": {"en": "runs programs", "zh": "运行程序"},
    "plugins_does_admin": {"en": "changes settings", "zh": "更改设置"},
    "plugins_for_owners": {"en": "for owners", "zh": "所有者"},
    "plugins_for_admins": {"en": "for admins", "zh": "管理员"},
    "plugins_for_members": {"en": "for members", "zh": "成员"},
    "plugins_for_all": {"en": "for all", "zh": "所有人"},
    "plugins_for_direct": {"en": "{who}, in direct chats only", "zh": "{who}，仅限私聊"},
    "plugins_for_group": {"en": "{who}, in groups only", "zh": "{who}，仅限群聊"},
    "plugins_for_both": {"en": "{direct}, in groups {group}", "zh": "{direct}，群聊中{group}"},
    "plugins_untrusted": {"en": "untrusted results", "zh": "结果不可信"},
    "plugins_commands": {"en": "Commands: {names}", "zh": "命令：{names}"},
    "plugins_tools": {"en": "Tools: {names}", "zh": "工具：{names}"},
    "plugins_presses": {"en": "Buttons: {names}", "zh": "按钮：{names}"},
    "plugins_screens": {"en": "Screens: {names}", "zh": "页面：{names}"},
    "plugins_settings": {"en": "Settings: {names}", "zh": "设置：{names}"},
    "plugins_moments": {"en": "Takes part: {names}", "zh": "参与：{names}"},
    "plugins_before_call": {"en": "may refuse tool calls or have people asked", "zh": "可拒绝工具调用或要求询问用户"},
    "plugins_hold": {"en": "may let the next answer in a chat wait", "zh": "可让聊天中的下一次回答等待"},
    "plugins_hear": {"en": "hears recordings", "zh": "听取语音"},
    "plugins_prompt": {"en": "tells the model something with messages", "zh": "随消息告诉模型一些内容"},
    "plugins_read": {"en": "reads files that are sent", "zh": "阅读收到的文件"},
    "plugins_summarised": {"en": "keeps facts from summaries", "zh": "保存总结中的要点"},
    "plugins_reacted": {"en": "is told of reactions to messages", "zh": "获知对消息的表情回应"},
    "plugins_moved": {"en": "is told where messages wait", "zh": "获知消息的等待位置"},
    "plugins_ended": {"en": "is told when an answer ends", "zh": "获知每次回答结束"},
    "plugins_sent": {"en": "is told of messages that were sent", "zh": "获知已发送的消息"},
    "plugins_erased": {"en": "erases its data of people on request", "zh": "可按要求删除所存的个人数据"},
    "plugins_owed": {"en": "Follows answers: {names}", "zh": "回复之后：{names}"},
    "plugins_duties": {"en": "Duties: {names}", "zh": "后台工作：{names}"},
    "plugins_models": {"en": "Providers of models: {names}", "zh": "模型提供商：{names}"},
    "plugins_routes": {"en": "Routes: {names}", "zh": "路径：{names}"},
    "plugins_tables": {"en": "Tables: {names}", "zh": "数据表：{names}"},
    "plugins_approve_button": {"en": "Approve {name}", "zh": "批准 {name}"},
    "plugins_approved": {
        "en": "The plugin {name} is approved as it is installed now ({content}). It is loaded at the next start of "
        "Parley.",
        "zh": "已按当前安装的内容批准插件 {name}（{content}）。下次启动 Parley 时加载。",
    },
    "plugins_nothing_waits": {
        "en": "No plugin named {name} waits for approval. {slash}plugins lists all.",
        "zh": "没有名为 {name} 的插件等待批准。发送 {slash}plugins 查看全部。",
    },
    "plugins_not_kept": {
        "en": "The approval of {name} could not be written to Parley's folder: {reason}. Put that right, and approve "
        "it again.",
        "zh": "无法将对 {name} 的批准写入 Parley 的文件夹：{reason}。请排除问题后重新批准。",
    },
}
