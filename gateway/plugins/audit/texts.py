"""Texts of the command /audit."""

TEXTS = {
    "audit_title": {"en": "The last actions, newest first:", "zh": "最近的操作（最新的在前）："},
    "audit_usage": {
        "en": "Write `{slash}audit`, or `{slash}audit 30` for more: at most {most}.",
        "zh": "请写 `{slash}audit`，或写 `{slash}audit 30` 查看更多（最多 {most} 条）。",
    },
    "audit_none": {"en": "Nothing has been recorded yet.", "zh": "还没有任何记录。"},
    "audit_off": {
        "en": "Actions are not recorded here: PARLEY_AUDIT is off.",
        "zh": "这里没有记录操作：PARLEY_AUDIT 已关闭。",
    },
    "audit_unreadable": {
        "en": "The record cannot be read ({reason}). `parley doctor` says how to repair it.",
        "zh": "无法读取记录（{reason}），请运行 `parley doctor` 查看如何修复。",
    },
    "audit_row": {"en": "{when} {what}: {status}, for {who}", "zh": "{when} {what}：{status}，为 {who}"},
    "audit_erased": {"en": "{when} (erased)", "zh": "{when}（已删除）"},
    "audit_ok": {"en": "done", "zh": "完成"},
    "audit_error": {"en": "failed", "zh": "失败"},
    "audit_denied": {"en": "refused", "zh": "被拒绝"},
    "audit_aborted": {"en": "stopped", "zh": "已中止"},
    "audit_changed": {"en": "changed", "zh": "已更改"},
    "audit_by": {"en": "decided by {who}", "zh": "由 {who} 决定"},
    "audit_by_rule": {"en": "decided by a rule", "zh": "由规则决定"},
    "audit_by_nobody": {"en": "nobody answered in time", "zh": "没有人及时答复"},
}
