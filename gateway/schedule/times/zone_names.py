"""The names by which people call time zones: of IANA, cities, countries, abbreviations and offsets from UTC."""

import re
import unicodedata
from zoneinfo import ZoneInfo

from agent_core.late_pattern import LatePattern
from agent_core.tools.clock import zone_names

LONGEST = 60
"""Most characters of a name that are read."""

_SIGN = r"[+＋−–-]|(?:plus|minus)\b"
OFFSET = rf"(?:utc|gmt)\s*(?:{_SIGN})\s*\d{{1,2}}(?:[:.]?(?:00|15|30|45))?"
"""An offset from UTC, as a pattern."""
_OFFSET = LatePattern(rf"(?:utc|gmt)?\s*({_SIGN})\s*(\d{{1,2}}?)(?:[:.]?(00|15|30|45))?(?:时区|时间)?", re.IGNORECASE)
OFFSET_IN_CHINESE = r"[东西]\s?(?:\d{1,2}|十[一二]?|[一二三四五六七八九])\s?(?:时区|区)(?:的?时间)?"
"""As 东八区, which is UTC+8."""
_OFFSET_IN_CHINESE = LatePattern(r"([东西])\s?(\d{1,2}|[一二三四五六七八九十]{1,2})\s?(?:时区|区)(?:的?时间)?")
_HOURS_IN_CHINESE = ("零", "一", "二", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "十二")
_EAST, _WEST = 14, 12
"""Largest whole-hour offsets from UTC for which there are zones."""
_UNEVEN = {
    210: "Asia/Tehran",
    270: "Asia/Kabul",
    330: "Asia/Kolkata",
    345: "Asia/Kathmandu",
    390: "Asia/Yangon",
    525: "Australia/Eucla",
    570: "Australia/Darwin",
    -570: "Pacific/Marquesas",
}
"""Zones that are so many minutes from UTC all the year, where that is no whole number of hours."""

_EASTERN, _CENTRAL = "America/New_York", "America/Chicago"
_MOUNTAIN, _PACIFIC = "America/Denver", "America/Los_Angeles"
_SHANGHAI, _KOLKATA, _SYDNEY = "Asia/Shanghai", "Asia/Kolkata", "Australia/Sydney"
_AMERICAN = (_EASTERN, _CENTRAL, _MOUNTAIN, _PACIFIC)

SHORT: dict[str, tuple[str, ...]] = {
    "ET": (_EASTERN,),
    "CT": (_CENTRAL,),
    "MT": (_MOUNTAIN,),
    "PT": (_PACIFIC,),
}
"""Abbreviations of two letters, which also begin words of a wish."""
ABBREVIATIONS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("EST", "EDT"), (_EASTERN,)),
    **dict.fromkeys(("MST", "MDT"), (_MOUNTAIN,)),
    **dict.fromkeys(("PST", "PDT"), (_PACIFIC,)),
    "CDT": (_CENTRAL,),
    "CST": (_CENTRAL, _SHANGHAI, "America/Havana"),
    "IST": (_KOLKATA, "Europe/Dublin", "Asia/Jerusalem"),
    "BST": ("Europe/London", "Asia/Dhaka"),
    "AST": ("America/Halifax", "Asia/Riyadh"),
    "ADT": ("America/Halifax",),
    "GST": ("Asia/Dubai", "Pacific/Guam"),
    "SST": ("Asia/Singapore", "Pacific/Pago_Pago"),
    "AMT": ("America/Manaus", "Asia/Yerevan"),
    "ECT": ("America/Guayaquil", "Europe/Paris"),
    "WST": ("Australia/Perth", "Pacific/Apia"),
    **dict.fromkeys(("AKST", "AKDT", "AKT"), ("America/Anchorage",)),
    "HST": ("Pacific/Honolulu",),
    **dict.fromkeys(("NST", "NDT"), ("America/St_Johns",)),
    **dict.fromkeys(("CET", "CEST", "MEZ", "MESZ"), ("CET",)),
    **dict.fromkeys(("EET", "EEST"), ("EET",)),
    **dict.fromkeys(("WET", "WEST"), ("WET",)),
    **dict.fromkeys(("AEST", "AEDT", "AET"), (_SYDNEY,)),
    **dict.fromkeys(("ACST", "ACDT"), ("Australia/Adelaide",)),
    "AWST": ("Australia/Perth",),
    **dict.fromkeys(("NZST", "NZDT", "NZT"), ("Pacific/Auckland",)),
    "JST": ("Asia/Tokyo",),
    "KST": ("Asia/Seoul",),
    "HKT": ("Asia/Hong_Kong",),
    "SGT": ("Asia/Singapore",),
    "MYT": ("Asia/Kuala_Lumpur",),
    "PHT": ("Asia/Manila",),
    "WIB": ("Asia/Jakarta",),
    "ICT": ("Asia/Bangkok",),
    "PKT": ("Asia/Karachi",),
    "NPT": ("Asia/Kathmandu",),
    "IRST": ("Asia/Tehran",),
    "IDT": ("Asia/Jerusalem",),
    "MSK": ("Europe/Moscow",),
    "TRT": ("Europe/Istanbul",),
    "SAST": ("Africa/Johannesburg",),
    "EAT": ("Africa/Nairobi",),
    "WAT": ("Africa/Lagos",),
    "CAT": ("Africa/Harare",),
    "BRT": ("America/Sao_Paulo",),
    "CLT": ("America/Santiago",),
    "WITA": ("Asia/Makassar",),
    "WIT": ("Asia/Jayapura",),
    "MMT": ("Asia/Yangon",),
    "BTT": ("Asia/Thimphu",),
    "AFT": ("Asia/Kabul",),
    "UZT": ("Asia/Tashkent",),
    "AZT": ("Asia/Baku",),
    "GET": ("Asia/Tbilisi",),
    "ALMT": ("Asia/Almaty",),
    "YEKT": ("Asia/Yekaterinburg",),
    "OMST": ("Asia/Omsk",),
    "NOVT": ("Asia/Novosibirsk",),
    "KRAT": ("Asia/Krasnoyarsk",),
    "IRKT": ("Asia/Irkutsk",),
    "YAKT": ("Asia/Yakutsk",),
    "VLAT": ("Asia/Vladivostok",),
    "ULAT": ("Asia/Ulaanbaatar",),
    "FJT": ("Pacific/Fiji",),
    "PGT": ("Pacific/Port_Moresby",),
    "ART": ("America/Argentina/Buenos_Aires",),
    "BOT": ("America/La_Paz",),
    "BRST": ("America/Sao_Paulo",),
    "CLST": ("America/Santiago",),
    "COT": ("America/Bogota",),
    "PET": ("America/Lima",),
    "PYT": ("America/Asuncion",),
    "UYT": ("America/Montevideo",),
    "VET": ("America/Caracas",),
    "UTC": ("UTC",),
    "GMT": ("GMT",),
    "UT": ("UTC",),
    "ZULU": ("UTC",),
    "AOE": ("Etc/GMT+12",),
}
"""Abbreviations, each with the zones that it may mean, the likeliest first."""
_ABBREVIATED = SHORT | ABBREVIATIONS
OTHER_THINGS = frozenset({"ART", "BOT", "COT", "GET", "PET", "UT", "VET", "WIT"})
"""Abbreviations that people write in capitals for something else as well, as in `9:00 PET scan`."""
WORDS = frozenset({"CAT", "CLT", "EAT", "ICT", "MYT", "WAT", "WEST", "WET", "WIB"}) | OTHER_THINGS
"""Abbreviations that are words as well, and mean a zone only in capitals."""
REGIONS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("eastern", "us eastern", "美东", "美国东部", "东部", "美东部"), (_EASTERN,)),
    **dict.fromkeys(("central", "us central", "美中", "美国中部", "中部"), (_CENTRAL,)),
    **dict.fromkeys(("mountain", "us mountain", "美国山地", "山地"), (_MOUNTAIN,)),
    **dict.fromkeys(("pacific", "us pacific", "美西", "美国西部", "西部", "太平洋", "美国太平洋", "加州"), (_PACIFIC,)),
    **dict.fromkeys(("california", "californian", "west coast", "us west coast", "sf"), (_PACIFIC,)),
    **dict.fromkeys(("east coast", "us east coast", "ny", "dc", "washington dc"), (_EASTERN,)),
    "hk": ("Asia/Hong_Kong",),
    "cdmx": ("America/Mexico_City",),
    **dict.fromkeys(("brasilia", "brasília"), ("America/Sao_Paulo",)),
    **dict.fromkeys(("texas", "德州"), (_CENTRAL,)),
    "anywhere on earth": ("Etc/GMT+12",),
    **dict.fromkeys(("us", "usa", "american", "america", "美国"), _AMERICAN),
    **dict.fromkeys(("canada", "canadian", "加拿大"), ("America/Toronto", "America/Winnipeg", "America/Vancouver")),
    **dict.fromkeys(
        ("australia", "australian", "澳洲", "澳大利亚"), (_SYDNEY, "Australia/Adelaide", "Australia/Perth")
    ),
    **dict.fromkeys(("brazil", "brazilian", "巴西"), ("America/Sao_Paulo", "America/Manaus")),
    **dict.fromkeys(("russia", "russian", "俄罗斯"), ("Europe/Moscow", "Asia/Yekaterinburg", "Asia/Vladivostok")),
    **dict.fromkeys(("mexico", "墨西哥"), ("America/Mexico_City", "America/Tijuana", "America/Cancun")),
    **dict.fromkeys(("indonesia", "印度尼西亚", "印尼"), ("Asia/Jakarta", "Asia/Makassar", "Asia/Jayapura")),
    **dict.fromkeys(("europe", "european", "欧洲"), ("Europe/London", "CET", "EET")),
    **dict.fromkeys(("central european", "中欧", "欧洲中部"), ("CET",)),
    **dict.fromkeys(("eastern european", "东欧"), ("EET",)),
    **dict.fromkeys(("western european", "西欧"), ("WET",)),
    **dict.fromkeys(("china", "chinese", "中国", "国内", "中國"), (_SHANGHAI,)),
    **dict.fromkeys(("japan", "japanese", "日本"), ("Asia/Tokyo",)),
    **dict.fromkeys(("korea", "korean", "south korea", "韩国"), ("Asia/Seoul",)),
    **dict.fromkeys(("india", "indian", "印度"), (_KOLKATA,)),
    **dict.fromkeys(("taiwan", "台湾"), ("Asia/Taipei",)),
    **dict.fromkeys(("thailand", "thai", "泰国", "曼谷"), ("Asia/Bangkok",)),
    **dict.fromkeys(("vietnam", "越南", "胡志明", "河内"), ("Asia/Ho_Chi_Minh",)),
    **dict.fromkeys(("philippines", "philippine", "菲律宾", "马尼拉"), ("Asia/Manila",)),
    **dict.fromkeys(("malaysia", "马来西亚", "吉隆坡"), ("Asia/Kuala_Lumpur",)),
    **dict.fromkeys(("pakistan", "巴基斯坦"), ("Asia/Karachi",)),
    **dict.fromkeys(("nepal", "nepali", "尼泊尔", "加德满都"), ("Asia/Kathmandu",)),
    **dict.fromkeys(("bangladesh", "孟加拉", "孟加拉国", "达卡"), ("Asia/Dhaka",)),
    **dict.fromkeys(("sri lanka", "斯里兰卡", "科伦坡"), ("Asia/Colombo",)),
    **dict.fromkeys(("afghanistan", "阿富汗", "喀布尔"), ("Asia/Kabul",)),
    **dict.fromkeys(("myanmar", "burma", "缅甸", "仰光"), ("Asia/Yangon",)),
    **dict.fromkeys(("伊朗", "德黑兰"), ("Asia/Tehran",)),
    **dict.fromkeys(("saudi arabia", "saudi", "沙特", "利雅得"), ("Asia/Riyadh",)),
    **dict.fromkeys(("argentina", "阿根廷", "布宜诺斯艾利斯"), ("America/Argentina/Buenos_Aires",)),
    **dict.fromkeys(("portuguese", "葡萄牙", "里斯本"), ("Europe/Lisbon",)),
    **dict.fromkeys(("israel", "israeli", "以色列"), ("Asia/Jerusalem",)),
    **dict.fromkeys(("turkey", "turkish", "土耳其", "伊斯坦布尔"), ("Europe/Istanbul",)),
    **dict.fromkeys(("uk", "british", "britain", "england", "英国"), ("Europe/London",)),
    **dict.fromkeys(("ireland", "irish", "爱尔兰", "都柏林"), ("Europe/Dublin",)),
    **dict.fromkeys(("germany", "german", "德国", "慕尼黑", "法兰克福"), ("Europe/Berlin",)),
    **dict.fromkeys(("france", "french", "法国"), ("Europe/Paris",)),
    **dict.fromkeys(("italy", "italian", "意大利", "罗马", "米兰"), ("Europe/Rome",)),
    **dict.fromkeys(("spain", "spanish", "西班牙", "马德里"), ("Europe/Madrid",)),
    **dict.fromkeys(("netherlands", "dutch", "荷兰", "阿姆斯特丹"), ("Europe/Amsterdam",)),
    **dict.fromkeys(("switzerland", "swiss", "瑞士", "苏黎世", "日内瓦"), ("Europe/Zurich",)),
    **dict.fromkeys(("austria", "austrian", "奥地利", "维也纳"), ("Europe/Vienna",)),
    **dict.fromkeys(("poland", "polish", "波兰", "华沙"), ("Europe/Warsaw",)),
    **dict.fromkeys(("sweden", "swedish", "瑞典", "斯德哥尔摩"), ("Europe/Stockholm",)),
    **dict.fromkeys(("ukraine", "乌克兰", "基辅"), ("Europe/Kyiv",)),
    **dict.fromkeys(("greece", "greek", "希腊", "雅典"), ("Europe/Athens",)),
    **dict.fromkeys(("egypt", "埃及", "开罗"), ("Africa/Cairo",)),
    **dict.fromkeys(("kenya", "肯尼亚", "内罗毕"), ("Africa/Nairobi",)),
    **dict.fromkeys(("nigeria", "尼日利亚"), ("Africa/Lagos",)),
    **dict.fromkeys(("south africa", "南非", "约翰内斯堡"), ("Africa/Johannesburg",)),
    **dict.fromkeys(("uae", "阿联酋"), ("Asia/Dubai",)),
    **dict.fromkeys(("hawaii", "夏威夷", "檀香山"), ("Pacific/Honolulu",)),
    **dict.fromkeys(("new zealand", "新西兰", "奥克兰"), ("Pacific/Auckland",)),
    **dict.fromkeys(("greenwich", "greenwich mean", "格林尼治", "格林威治"), ("GMT",)),
    **dict.fromkeys(("universal", "coordinated universal", "世界", "协调世界", "世界标准", "国际标准"), ("UTC",)),
    **dict.fromkeys(("singapore standard",), ("Asia/Singapore",)),
    **dict.fromkeys(("西雅图", "硅谷", "温哥华", "拉斯维加斯"), (_PACIFIC,)),
    **dict.fromkeys(("波士顿", "华盛顿", "迈阿密", "亚特兰大"), (_EASTERN,)),
    **dict.fromkeys(("休斯顿", "达拉斯"), (_CENTRAL,)),
    **dict.fromkeys(("杭州", "成都", "南京", "武汉", "重庆", "天津", "西安", "苏州"), (_SHANGHAI,)),
    **dict.fromkeys(("köln", "münchen"), ("Europe/Berlin",)),
    **dict.fromkeys(("genf", "zürich"), ("Europe/Zurich",)),
    "athen": ("Europe/Athens",),
    "brüssel": ("Europe/Brussels",),
    "kairo": ("Africa/Cairo",),
    "kopenhagen": ("Europe/Copenhagen",),
    "lissabon": ("Europe/Lisbon",),
    "mailand": ("Europe/Rome",),
    "moskau": ("Europe/Moscow",),
    "peking": (_SHANGHAI,),
    "prag": ("Europe/Prague",),
    "tokio": ("Asia/Tokyo",),
    "warschau": ("Europe/Warsaw",),
    "wien": ("Europe/Vienna",),
    **dict.fromkeys(("墨尔本",), ("Australia/Melbourne",)),
    **dict.fromkeys(("珀斯",), ("Australia/Perth",)),
    **dict.fromkeys(("阿德莱德",), ("Australia/Adelaide",)),
    **dict.fromkeys(("孟买", "新德里", "德里", "班加罗尔"), (_KOLKATA,)),
    **dict.fromkeys(("雅加达",), ("Asia/Jakarta",)),
    **dict.fromkeys(("澳门",), ("Asia/Macau",)),
}
"""What stands before `time`: regions, countries and cities that IANA does not have by this name."""
_GERMAN = {
    **dict.fromkeys(("berliner", "hamburger", "frankfurter", "kölner", "münchner", "münchener"), "Europe/Berlin"),
    **dict.fromkeys(("deutsche", "deutscher", "mitteleuropäische", "mitteleuropäischer"), "Europe/Berlin"),
    **dict.fromkeys(("zürcher", "züricher"), "Europe/Zurich"),
    **dict.fromkeys(("tokioter", "tokyoter"), "Asia/Tokyo"),
    "londoner": "Europe/London",
    "moskauer": "Europe/Moscow",
    "new yorker": _EASTERN,
    "pariser": "Europe/Paris",
    "pekinger": _SHANGHAI,
    "wiener": "Europe/Vienna",
}
"""The German name of a place that stands before `Zeit`."""
_NOWHERE = frozenset({"UTC", "GMT", "UCT", "Universal", "Zulu", "Greenwich", "GMT0", "GMT+0", "GMT-0", "Factory"})
_NO_CITIES = frozenset({"center", "central", "east", "easter", "general", "north", "reunion", "south", "west"})
"""Last parts of IANA's names that are words of every day."""
_NO_PLACES = re.compile(
    "acre|canary|casey|center|central|christmas|cocos|continental|davis|general|jersey|jujuy|knox|mountain|navajo|norfolk"
    "|north|oral|palmer|resolute|reunion|south|stanley|troll|truk|turkey|universal|victoria|virgin|wake|west"
)
_SHORTEST = 4
LOWER = frozenset(
    each
    for each in zone_names()
    if each == "nyc"
    or (each.isascii() and each.isalpha() and len(each) >= _SHORTEST and not _NO_PLACES.fullmatch(each))
)
"""Names that mean a place in small letters as well, as in `9:00 tokyo`."""
_SEVERAL = 2
_DOTS = LatePattern(r"(?i:(?<=\b[a-z])\.)")
"""As in `U.S.` and `E.S.T.`."""
_PERIOD = LatePattern(
    r"\s*\b(?:standard|daylight|summer|winter|local)?\s*(?:time(?:\s*zone)?)?\Z|(?:标准|当地|夏令|冬令)?的?(?:时间?)?\Z"
)


def zones_named(name: str) -> tuple[str, ...]:
    """Return the zones that a name may mean, such as `Europe/Berlin`, `new york`, `北京时间`, `UTC+8` or `CST`.

    Several: the name is ambiguous. None: it is no name of a zone.
    """
    wanted = " ".join(name[:LONGEST].replace("_", " ").split())
    if _OFFSET.fullmatch(wanted) or _OFFSET_IN_CHINESE.fullmatch(wanted):
        found = _by_offset(wanted)
        return (found,) if found else ()
    plain = _DOTS.sub("", wanted).lower().removeprefix("local ")
    if found := _GERMAN.get(plain.removesuffix(" zeit")) if plain.endswith(" zeit") else None:
        return (found,)
    if found_by_name := _by_name(plain):
        return found_by_name
    if not plain.isascii() and (found_by_name := _by_name(_without_accents(plain))):
        return found_by_name
    return _by_several(plain) if "/" in plain else ()


def _by_name(plain: str) -> tuple[str, ...]:
    for each in dict.fromkeys((plain, _PERIOD.sub("", plain))):
        if known := _ABBREVIATED.get(each.upper()) or REGIONS.get(each):
            return known
        if each in zone_names() and each not in _NO_CITIES:
            return (zone_names()[each],)
    return ()


def _by_several(plain: str) -> tuple[str, ...]:
    """Return the zones that all names of `PST/PDT` mean; if there are none, those of each."""
    names = _PERIOD.sub("", plain).split("/")
    found = [_ABBREVIATED.get(name.strip().upper(), ()) for name in names]
    if len(names) < _SEVERAL or not all(found):
        return ()
    common = tuple(zone for zone in found[0] if all(zone in each for each in found))
    every = common or tuple(dict.fromkeys(zone for each in found for zone in each))
    return ("UTC",) if _NOWHERE.issuperset(every) else every


def _without_accents(name: str) -> str:
    """Return `bogota` for `bogotá`."""
    return "".join(each for each in unicodedata.normalize("NFKD", name) if not unicodedata.combining(each))


def find_zone(text: str) -> ZoneInfo | None:
    """Return the zone that a name certainly means; None if there is none, or several."""
    found = zones_named(text)
    return ZoneInfo(found[0]) if len(found) == 1 else None


def shown_zone(key: str) -> str:
    """Return a zone's name as people read it: IANA's `Etc/GMT-8` is `UTC+8`."""
    sign, hours = key.removeprefix("Etc/GMT")[:1], key[len("Etc/GMT-") :]
    return f"UTC{'+' if sign == '-' else '-'}{hours}" if key.startswith("Etc/GMT") and hours else key


def without_place(key: str) -> bool:
    """Return True for zones such as UTC, which machines and cautious browsers tell, and where nobody lives."""
    return key in _NOWHERE or key.startswith("Etc/")


def city_of(key: str) -> str:
    """Return the city that a zone is called after, or its whole name."""
    return shown_zone(key).rpartition("/")[2].replace("_", " ")


LIKELY: dict[str, tuple[str, ...]] = {
    "zh-tw": ("Asia/Taipei",),
    "zh-hk": ("Asia/Hong_Kong",),
    "zh": (_SHANGHAI, "Asia/Hong_Kong", "Asia/Taipei", "Asia/Singapore"),
    "ja": ("Asia/Tokyo",),
    "ko": ("Asia/Seoul",),
    "de": ("Europe/Berlin", "Europe/Vienna", "Europe/Zurich"),
    "fr": ("Europe/Paris", "America/Toronto", "Europe/Brussels"),
    "it": ("Europe/Rome",),
    "es": ("Europe/Madrid", "America/Mexico_City", "America/Argentina/Buenos_Aires", "America/Bogota"),
    "pt-br": ("America/Sao_Paulo",),
    "pt": ("America/Sao_Paulo", "Europe/Lisbon"),
    "ru": ("Europe/Moscow", "Asia/Yekaterinburg", "Asia/Novosibirsk"),
    "uk": ("Europe/Kyiv",),
    "pl": ("Europe/Warsaw",),
    "nl": ("Europe/Amsterdam", "Europe/Brussels"),
    "tr": ("Europe/Istanbul",),
    "vi": ("Asia/Ho_Chi_Minh",),
    "th": ("Asia/Bangkok",),
    "id": ("Asia/Jakarta", "Asia/Makassar"),
    "hi": (_KOLKATA,),
    "he": ("Asia/Jerusalem",),
    "en-gb": ("Europe/London",),
    "en-au": (_SYDNEY, "Australia/Perth"),
    "en-in": (_KOLKATA,),
    "en": (_EASTERN, _PACIFIC, "Europe/London", _KOLKATA),
}
"""The zones of most people with a language, which are offered and never taken unasked."""
_FEW = 4


def likely_zones(language: str | None) -> tuple[str, ...]:
    """Return a few zones to choose from, the likeliest first, for an IETF language tag."""
    tag = (language or "en").lower().replace("_", "-")
    found = LIKELY.get(tag) or LIKELY.get(tag.partition("-")[0]) or ()
    return tuple(dict.fromkeys((*found, *LIKELY["en"], *LIKELY["zh"])))[:_FEW]


def _by_offset(text: str) -> str | None:
    """Return the zone for an offset from UTC, such as `+08:00`, `GMT-3` or 东八区."""
    if found := _OFFSET_IN_CHINESE.fullmatch(text):
        hours = int(found[2]) if found[2].isdecimal() else _HOURS_IN_CHINESE.index(found[2])
        return _of_minutes(60 * hours * (1 if found[1] == "东" else -1))
    found = _OFFSET.fullmatch(text)
    if found is None:
        return None
    minutes = 60 * int(found[2]) + int(found[3] or 0)
    return _of_minutes(minutes if found[1].lower() in ("+", "＋", "plus") else -minutes)


def _of_minutes(minutes: int) -> str | None:
    if minutes % 60:
        return _UNEVEN.get(minutes)
    hours = minutes // 60
    if not -_WEST <= hours <= _EAST:
        return None
    # POSIX inverts the sign: UTC+8 is Etc/GMT-8.
    return f"Etc/GMT{-hours:+d}" if hours else "UTC"
