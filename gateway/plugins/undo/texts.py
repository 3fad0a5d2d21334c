"""Texts of the command /undo."""

TEXTS = {
    "undo_nothing": {
        "en": "You have nothing to undo here. `{slash}undo list` shows earlier changes.",
        "zh": "这里没有可以撤销的更改。可用 `{slash}undo list` 查看较早的更改。",
    },
    "undo_unknown": {
        "en": "There is no change {id} here that you can undo. `{slash}undo list` shows the changes.",
        "zh": "这里没有您可以撤销的更改 {id}。可用 `{slash}undo list` 查看。",
    },
    "undo_already": {
        "en": "Change {id} is already undone. `{slash}undo {by}` restores it.",
        "zh": "更改 {id} 已经撤销。用 `{slash}undo {by}` 可以恢复。",
    },
    "undo_busy": {
        "en": "Something is changing the files right now. Try again when it is done, or `{slash}stop` it first.",
        "zh": "文件正在被更改。请等它完成后再试，或先用 `{slash}stop` 停止。",
    },
    "undo_since": {
        "en": "Changed again since: {files}. Restore the earlier content anyway? The current content is kept, too.",
        "zh": "之后又有改动：{files}。仍要恢复到之前的内容吗？现在的内容也会保留。",
    },
    "undo_anyway_button": {"en": "Restore anyway", "zh": "仍然恢复"},
    "undo_cannot": {
        "en": "This cannot be undone now: the current content could not be backed up ({why}).",
        "zh": "现在无法撤销：当前内容无法备份（{why}）。",
    },
    "undo_done": {"en": "Undone:", "zh": "已撤销："},
    "undo_changed": {"en": "- {path} is as it was before", "zh": "- {path} 已恢复原样"},
    "undo_back": {"en": "- {path} is back", "zh": "- {path} 已找回"},
    "undo_gone": {"en": "- {path} is gone again", "zh": "- {path} 已移除"},
    "undo_known": {"en": "- remembered again: {fact}", "zh": "- 我重新记住了：{fact}"},
    "undo_forgotten": {"en": "- forgotten again: {fact}", "zh": "- 我不再记得：{fact}"},
    "undo_more": {"en": "- and {count} more", "zh": "- 另有 {count} 项"},
    "undo_failed": {
        "en": "Could not be restored: {files}",
        "zh": "未能恢复：{files}",
    },
    "undo_back_button": {"en": "Undo that", "zh": "撤回此操作"},
    "undo_list": {"en": "Changes of the last 30 days, newest first:", "zh": "最近 30 天的更改（最新在前）："},
    "undo_none": {
        "en": "Nothing was changed here in the last 30 days.",
        "zh": "最近 30 天内这里没有更改。",
    },
    "undo_line": {"en": "- `{id}` {when}: {what}", "zh": "- `{id}` {when}：{what}"},
    "undo_line_undone": {"en": "- `{id}` {when}: {what} (undone)", "zh": "- `{id}` {when}：{what}（已撤销）"},
    "undo_button": {"en": "Undo {id}", "zh": "撤销 {id}"},
    "undo_made": {"en": "created {paths}", "zh": "新建 {paths}"},
    "undo_altered": {"en": "changed {paths}", "zh": "修改 {paths}"},
    "undo_deleted": {"en": "deleted {paths}", "zh": "删除 {paths}"},
    "undo_forgot": {"en": "forgot: {facts}", "zh": "忘记：{facts}"},
    "undo_remembered": {"en": "remembered: {facts}", "zh": "记住：{facts}"},
    "undo_of": {"en": "undo of {id}: {what}", "zh": "撤销 {id}：{what}"},
}
