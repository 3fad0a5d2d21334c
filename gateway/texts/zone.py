"""Texts about time zones."""

TEXTS = {
    "zone_here": {
        "en": "Time zone here: **{zone}** ({source}). It is {time} there.",
        "zh": "这里的时区：**{zone}**（{source}）。当地时间 {time}。",
    },
    "zone_set_here": {"en": "set here", "zh": "在这里设置"},
    "zone_of_channel": {"en": "as in the channel", "zh": "沿用频道的设置"},
    "zone_of_house": {"en": "the default", "zh": "默认"},
    "zone_how": {
        "en": "Say `{slash}tz Europe/Paris` or `{slash}tz New York` for another one.",
        "zh": "如需更改，请发送 `{slash}tz Asia/Shanghai` 或 `{slash}tz 北京`。",
    },
    "zone_set": {
        "en": "Time zone {where}: **{zone}**. It is {time} there.",
        "zh": "已{where}设置时区：**{zone}**。当地时间 {time}。",
    },
    "zone_not_yours": {
        "en": "Others read here, too, so only an owner can change the time zone.",
        "zh": "这里还有其他人，只有所有者可以更改时区。",
    },
    "zone_did_you_mean": {
        "en": "I know no time zone {name}. Did you mean **{near}**?",
        "zh": "没有 {name} 这个时区。您是指 **{near}** 吗？",
    },
    "zone_unknown": {
        "en": "I know no time zone {name}. Say for example `{slash}tz Europe/Paris`, `{slash}tz New York` "
        "or `{slash}tz UTC+8`.",
        "zh": "没有 {name} 这个时区。例如：`{slash}tz Asia/Shanghai`、`{slash}tz 北京` 或 `{slash}tz UTC+8`。",
    },
    "zone_jobs_elsewhere": {
        "en": "Planned here by the clocks of another zone: {count}. `{slash}tz move` moves them to this one.",
        "zh": "这里有 {count} 个计划仍按其他时区执行，可用 `{slash}tz move` 移到这个时区。",
    },
    "zone_move_button": {"en": "Move them", "zh": "移过来"},
    "zone_moved": {
        "en": "Moved to {zone}: {count}. `{slash}cron list` shows when they come now.",
        "zh": "已将 {count} 个计划移到 {zone}。可用 `{slash}cron list` 查看新的时间。",
    },
    "zone_nothing_to_move": {
        "en": "Everything planned here goes by {zone} already.",
        "zh": "这里的计划都已按 {zone} 执行。",
    },
}
