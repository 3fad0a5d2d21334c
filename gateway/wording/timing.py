"""What is said of times, and of rules that cannot be kept."""

TEXTS = {
    "rule_past": {"en": "That time is past.", "zh": "这个时间已经过去了。"},
    "rule_too_far": {
        "en": "That is more than {years} years away. Please choose an earlier date.",
        "zh": "那是 {years} 年以后的事了，请选一个更早的日期。",
    },
    "rule_too_often": {
        "en": "That is too often: once a minute is the most.",
        "zh": "太频繁了：最多每分钟一次。",
    },
    "rule_too_seldom": {
        "en": "That is too seldom: once a year is the least. Name a date instead.",
        "zh": "间隔太长：至少每年一次。请改用具体日期。",
    },
    "rule_never": {
        "en": "That date never comes. Please look at the day and the month again.",
        "zh": "这个日期不存在，请检查日和月。",
    },
    "bad_cron": {"en": "I cannot read this cron line.", "zh": "我看不懂这个 cron 表达式。"},
    "bad_cron_fields": {
        "en": "A cron line has five fields (minute, hour, day, month, weekday), and this one has {count}.",
        "zh": "cron 表达式应有五个字段（分、时、日、月、星期），这里有 {count} 个。",
    },
    "bad_cron_minute": {
        "en": "The first field of the cron line, the minute, must be 0 to 59.",
        "zh": "cron 表达式的第一个字段（分）应为 0 到 59。",
    },
    "bad_cron_hour": {
        "en": "The second field of the cron line, the hour, must be 0 to 23.",
        "zh": "cron 表达式的第二个字段（时）应为 0 到 23。",
    },
    "bad_cron_day": {
        "en": "The third field of the cron line, the day, must be 1 to 31.",
        "zh": "cron 表达式的第三个字段（日）应为 1 到 31。",
    },
    "bad_cron_month": {
        "en": "The fourth field of the cron line, the month, must be 1 to 12.",
        "zh": "cron 表达式的第四个字段（月）应为 1 到 12。",
    },
    "bad_cron_weekday": {
        "en": "The fifth field of the cron line, the weekday, must be 0 to 7, where 0 and 7 are Sunday.",
        "zh": "cron 表达式的第五个字段（星期）应为 0 到 7，0 和 7 都是星期日。",
    },
    "bad_quiet_hours": {
        "en": "Please write quiet hours like this: `22-7`, `22:30-7:00`, or `off`.",
        "zh": "请这样写安静时段：`22-7`、`22:30-7:00`，或 `off` 关闭。",
    },
    "quiet_hours_all_day": {
        "en": "These quiet hours begin and end at the same time. Please choose two times.",
        "zh": "安静时段的开始和结束相同，请选两个不同的时间。",
    },
}
