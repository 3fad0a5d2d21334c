"""Texts of the admin pages of health and the log."""

TEXTS = {
    "page_health": {"en": "Health", "zh": "运行状况"},
    "page_health_version": {"en": "Version", "zh": "版本"},
    "page_health_started": {"en": "Started", "zh": "启动时间"},
    "page_health_sandbox": {"en": "Sandbox for programs", "zh": "程序沙箱"},
    "page_health_no_sandbox": {"en": "none, so no programs are run", "zh": "无，因此不运行程序"},
    "page_health_connected": {"en": "connected", "zh": "已连接"},
    "page_health_down": {"en": "not ready: {why}", "zh": "未就绪：{why}"},
    "page_health_doctor": {"en": "Check everything", "zh": "全面检查"},
    "page_health_check": {"en": "Check now", "zh": "立即检查"},
    "page_health_owners": {"en": "Only owners can run this check here.", "zh": "只有所有者可以在这里运行检查。"},
    "page_health_ok": {"en": "in order", "zh": "正常"},
    "page_health_note": {"en": "note", "zh": "提示"},
    "page_health_problem": {"en": "problem", "zh": "问题"},
    "page_log": {"en": "Log", "zh": "日志"},
    "page_log_level": {"en": "From level", "zh": "最低级别"},
    "page_log_how": {
        "en": "The last lines since the start, masked, in the time zone of your browser. New ones follow by "
        "themselves, at most 200 every 2 seconds.",
        "zh": "启动以来的最近日志（已隐藏机密），时间按浏览器的时区显示。新日志会自动出现，每 2 秒最多 200 行。",
    },
    "page_log_owners": {"en": "The log is for owners.", "zh": "只有所有者可以查看日志。"},
    "page_log_actions": {"en": "Last actions", "zh": "最近的操作"},
    "page_log_what": {"en": "Action", "zh": "操作"},
    "page_log_state": {"en": "Outcome", "zh": "结果"},
    "page_log_no_actions": {
        "en": "Tool calls and changes by admins appear here as soon as there are some.",
        "zh": "工具调用和管理员的更改会显示在这里。",
    },
}
