"""Texts about times and time zones, and about rules that are not possible."""

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
        "en": "That date never comes. Please check the day and the month.",
        "zh": "这个日期不存在，请检查日和月。",
    },
    "rule_not_understood": {
        "en": "I do not understand the time. Write it in front, in English or Chinese, for example "
        "`tomorrow 9:00 call Ann`.",
        "zh": "我没看懂时间。请用中文或英文把时间写在前面，例如 `明天9点 给安打电话`。",
    },
    "rule_no_time": {
        "en": "At what time? Write for example `tomorrow 9:00` or `every monday 9:00`.",
        "zh": "几点呢？请这样写：`明天9点` 或 `每周一9点`。",
    },
    "rule_which_day": {
        "en": "On which day? Not every month has today's. Write for example `every month on the 28th at 9:00` or "
        "`last day of the month at 9:00`.",
        "zh": "在哪一天呢？不是每个月都有今天这个日期。请这样写：`每月28日9点` 或 `每月最后一天9点`。",
    },
    "rule_how_often": {
        "en": "You ask for {count} times a day. Please name as many times, for example `every day at 9:00 and 17:00`.",
        "zh": "您要每天 {count} 次，请写出同样多的时间，例如 `每天9点和17点`。",
    },
    "rule_one_at_a_time": {
        "en": "These times do not fit into one plan. Please ask for one time after the other.",
        "zh": "这些时间无法合并成一个计划，请分开设置。",
    },
    "rule_days_or_times": {
        "en": "I can count days, or keep a time of day, but not both in one. Say for example `every monday 9:00` "
        "or `every month 1,15 9:00`.",
        "zh": "间隔天数和固定时刻不能同时使用。请这样写：`每周一9点` 或 `每月1日、15日9点`。",
    },
    "rule_which_midnight": {
        "en": "Midnight of which day? Write `0:00` and the day that begins then.",
        "zh": "是哪一天的零点？请写 `0:00` 和从那时开始的那一天。",
    },
    "rule_unreadable": {
        "en": "at a time that cannot be read any more",
        "zh": "时间已无法识别",
    },
    "rule_which_time": {
        "en": "I am not sure which hour of which day that is. Write it from 0:00 to 23:59, with the day it belongs to.",
        "zh": "我不确定这是哪一天的几点。请用 0:00 到 23:59 来写，并写明是哪一天。",
    },
    "rule_which_date": {
        "en": "Which is the day, and which the month? Write for example `2027-01-31` or `31 January 2027`.",
        "zh": "哪个是日，哪个是月？请这样写：`2027-01-31` 或 `2027年1月31日`。",
    },
    "rule_other_weekday": {
        "en": "That date falls on another weekday. Please write the date alone.",
        "zh": "这个日期不是那个星期几，请只写日期。",
    },
    "rule_which_days": {
        "en": "That can be understood in two ways. Write `every {count} days` or `every {more} days`.",
        "zh": "这有两种理解。请写 `每{count}天` 或 `每{more}天`。",
    },
    "rule_half_understood": {
        "en": "I see a time there, but also “{words}”, which I cannot fit in. Please write one plain time in front, "
        "for example `tomorrow 9:00` or `every monday 9:00`, then a colon, then what it is about.",
        "zh": "我看到了时间，但不明白其中的“{words}”。请先写一个简单的时间，例如 `明天9点` 或 `每周一9点`，"
        "再加冒号，然后写内容。",
    },
    "rule_limited": {
        "en": "“{words}” limits how often that comes, in a way that I cannot read. An end is a day behind the time, as "
        "in `every day 9:00 until 24 December: water the plants`. If it belongs to what I am to say, put a colon "
        "before that.",
        "zh": "“{words}”限制了重复，我看不懂。结束日期请写在时间后面，例如 `每天9点到12月24日：浇花`。"
        "如果它属于提醒的内容，请在内容前加冒号。",
    },
    "zone_which": {
        "en": "Which time zone is {name}? Write it as one of these: {choices}.",
        "zh": "“{name}”指哪个时区？请改写为其中之一：{choices}。",
    },
    "zone_or_place": {
        "en": "Is that the time in {name}, or only a place? Write `{zone}` after the time to go by its clocks, or a "
        "colon before what it is about.",
        "zh": "“{name}”是指当地时间，还是地点？如果按那里的时间，请在时间后写 `{zone}`；否则请在内容前加冒号。",
    },
    "bad_time": {"en": "No clock shows {time}.", "zh": "没有 {time} 这个时间。"},
    "bad_date": {
        "en": "There is no such date. Please check the day and the month.",
        "zh": "没有这个日期，请检查月和日。",
    },
    "bad_rrule": {"en": "I cannot use `{part}` in a recurrence rule.", "zh": "重复规则中的 `{part}` 无法使用。"},
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
        "zh": "请这样写免打扰时段：`22-7`、`22:30-7:00`，或 `off` 关闭。",
    },
    "quiet_hours_all_day": {
        "en": "These quiet hours begin and end at the same time. Please choose two times.",
        "zh": "免打扰时段的开始和结束相同，请选两个不同的时间。",
    },
    "once_at": {"en": "on {day} at {time}", "zh": "{day} {time}"},
    "every_seconds": {"en": "every {count} seconds", "zh": "每 {count} 秒"},
    "every_minute": {"en": "every minute", "zh": "每分钟"},
    "every_minutes": {"en": "every {count} minutes", "zh": "每 {count} 分钟"},
    "every_hour": {"en": "every hour", "zh": "每小时"},
    "every_hours": {"en": "every {count} hours", "zh": "每 {count} 小时"},
    "every_days": {"en": "every {count} days", "zh": "每 {count} 天"},
    "every_weeks_on": {"en": "every {count} weeks on {on}", "zh": "每 {count} 周的{on}"},
    "every_months_on": {"en": "every {count} months on the {on}", "zh": "每 {count} 个月的{on}"},
    "every_years_on": {"en": "every {count} years on the {on}", "zh": "每 {count} 年的{on}"},
    "day_in_year": {"en": "{days} of {months}", "zh": "{months}{days}"},
    "until_day": {"en": "{words}, until {day}", "zh": "{words}，到{day}为止"},
    "every_day": {"en": "every day", "zh": "每天"},
    "every_weekday": {"en": "every weekday", "zh": "每个工作日"},
    "every_named": {"en": "every {weekdays}", "zh": "每{weekdays}"},
    "every_year": {"en": "every year on {day} {month}", "zh": "每年{month}{day}日"},
    "days_in_months": {"en": "{days} in {months}", "zh": "{months}{days}"},
    "days_of_months": {"en": "on the {days} of {months}", "zh": "{months}的{days}"},
    "days_of_every_month": {"en": "on the {days} of every month", "zh": "每月{days}"},
    "last_day": {"en": "last day", "zh": "最后一天"},
    "day_from_the_end": {"en": "{day} to last day", "zh": "倒数第{day}天"},
    "working_day": {"en": "working day", "zh": "工作日"},
    "first_one": {"en": "first {weekday}", "zh": "第一个{weekday}"},
    "second_one": {"en": "second {weekday}", "zh": "第二个{weekday}"},
    "third_one": {"en": "third {weekday}", "zh": "第三个{weekday}"},
    "fourth_one": {"en": "fourth {weekday}", "zh": "第四个{weekday}"},
    "fifth_one": {"en": "fifth {weekday}", "zh": "第五个{weekday}"},
    "last_one": {"en": "last {weekday}", "zh": "最后一个{weekday}"},
    "either": {"en": "{days} and {weekdays}", "zh": "{days}以及{weekdays}"},
    "only_if": {"en": "{words}, but only if that is a {weekdays}", "zh": "{words}（仅限{weekdays}）"},
    "dates_at_times": {"en": "{dates} at {times}", "zh": "{dates} {times}"},
    "dates_and_times": {"en": "{dates}, {times}", "zh": "{dates}，{times}"},
    "at_minutes": {"en": "at {minutes}", "zh": "在 {minutes}"},
    "of_every_hour": {"en": "{often} of every hour", "zh": "每小时{often}"},
    "every_minutes_by_clock": {
        "en": "every {count} minutes from the full hour on",
        "zh": "从整点起每 {count} 分钟",
    },
    "in_hours": {"en": "{often}, in the hours {hours}", "zh": "{hours}点，{often}"},
    "every_full_hour": {"en": "every full hour", "zh": "每个整点"},
    "every_hour_at": {"en": "every hour at {minute}", "zh": "每小时的 {minute}"},
    "every_full_hours": {"en": "every {count} hours from {first} on", "zh": "从 {first} 起每 {count} 小时"},
    "every_hour_between": {"en": "every hour from {first} to {last}", "zh": "{first} 至 {last} 每小时"},
    "from_to": {"en": "{first} to {last}", "zh": "{first}至{last}"},
    "clocks_change": {
        "en": "Clocks change on {day}: {time} stays {time}.",
        "zh": "{day} 时钟调整：{time} 仍是 {time}。",
    },
    "clocks_go_forward": {
        "en": "Clocks go forward on {day}: there is no {time} that day, so it comes at {instead}.",
        "zh": "{day} 时钟调快：当天没有 {time}，改在 {instead}。",
    },
    "clocks_go_back": {
        "en": "Clocks go back on {day}: {time} comes twice, and only the first one counts.",
        "zh": "{day} 时钟调慢：{time} 会出现两次，只算第一次。",
    },
    "zone_here": {
        "en": "Time zone here: **{zone}** ({source}). It is {time} there.",
        "zh": "这里的时区：**{zone}**（{source}）。当地时间 {time}。",
    },
    "zone_set_here": {"en": "set here", "zh": "在这里设置"},
    "zone_of_channel": {"en": "as in the channel", "zh": "沿用频道的设置"},
    "zone_of_yours": {"en": "yours", "zh": "您的时区"},
    "zone_from": {
        "en": "Times are by the clock of **{zone}** ({source}).",
        "zh": "时间按 **{zone}** 计算（{source}）。",
    },
    "zone_of_browser": {"en": "from your browser", "zh": "来自您的浏览器"},
    "zone_as_said": {"en": "as you said", "zh": "按您所说"},
    "zone_of_profile": {"en": "from your profile on {name}", "zh": "来自您在 {name} 的资料"},
    "zone_change_button": {"en": "Change zone", "zh": "更改时区"},
    "zone_ask": {
        "en": "I do not know your time zone, so this is by **{zone}**. Where are you? Choose or reply with a city, "
        "such as `Lisbon`. The time of day stays, by the clock there.",
        "zh": "我不知道您的时区，所以先按 **{zone}** 计算。您在哪里？请选择，或回复城市名，例如 `北京`。"
        "时刻不变，改按当地时间。",
    },
    "zone_which_is_yours": {
        "en": "Where are you? Choose or reply with a city, such as `Lisbon`. The time of day stays.",
        "zh": "您在哪里？请选择，或回复城市名，例如 `北京`。时刻不变。",
    },
    "zone_several": {
        "en": "{name} can be one of several time zones. Which one is yours?",
        "zh": "“{name}”可能是几个时区，您在哪一个？",
    },
    "zone_where": {
        "en": "Where are you? Choose or reply with a city, such as `Lisbon`.",
        "zh": "您在哪里？请选择，或回复城市名，例如 `北京`。",
    },
    "zone_mine_set": {
        "en": "Your time zone: **{zone}**. It is {time} there.",
        "zh": "您的时区：**{zone}**。当地时间 {time}。",
    },
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
        "en": "Others read here, too, so only owners and admins can change the time zone.",
        "zh": "这里还有其他人，只有所有者和管理员可以更改时区。",
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
        "en": "Planned here by the clocks of another zone: {count}. `{slash}tz move` moves them to this one; "
        "the time of day stays.",
        "zh": "这里有 {count} 个计划仍按其他时区执行，可用 `{slash}tz move` 移到这个时区，时刻不变。",
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
