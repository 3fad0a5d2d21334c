"""Intents that the demo model recognises, by patterns in English and Chinese."""

import re
from enum import StrEnum

from msgspec import Struct

READ_CHARS = 2000
MOST_SUM_CHARS = 300


class Topic(StrEnum):
    TIME = "time"
    MATHS = "maths"
    REMEMBER = "remember"
    RECALL = "recall"
    FORGET = "forget"
    READ = "read"
    CHART = "chart"
    FILES = "files"
    PLAN = "plan"
    FAIL = "fail"
    LONG = "long"
    WAIT = "wait"
    FLIGHT = "flight"
    COUNT = "count"
    CORRECTION = "correction"
    BACKGROUND = "background"
    REMIND = "remind"
    REPORT = "report"
    JOBS = "jobs"
    UNSCHEDULE = "unschedule"
    WHY = "why"
    DUE = "due"
    """A scheduled prompt, not a user's message."""
    HELP = "help"
    OTHER = "other"


class Intent(Struct, frozen=True):
    """The intent of a message; `subject` is the city, sum, fact, path, number or wish in it."""

    topic: Topic
    subject: str = ""
    instead_of: str = ""
    """The subject before the user corrected it."""


_PATH = r"[`'\"]?([^\s`'\"，。？]+\.[a-z0-9]{1,8}|/[^\s`'\"，。？?]+|\.\.[^\s`'\"，。？?]*)"
_PATTERNS = (
    (Topic.BACKGROUND, r"^(?:please )?(?:do )?in the background\s*[:：,，]?\s*(\S.*)"),
    (Topic.BACKGROUND, r"^(?:请)?在?后台(?:做|运行|执行)?\s*[:：,，]?\s*(\S.*)"),
    (
        Topic.CORRECTION,
        r"^(?:no|stop|sorry|rather|actually)?[\s,，.!]*(?:only |just |rather )?(?:up )?to ([0-9]{1,2})\b\W*$",
    ),
    (Topic.CORRECTION, r"^(?:(?:不对?|不要|不是|算了|还是)[\s,，。]*(?:只|要|数)*|只?)到\s*([0-9]{1,2})\W*$"),
    (Topic.REMEMBER, r"^(?:please )?(?:(?:add|take|make) )?(?:a )?note\b(?: that| to)?\s*[:：,]?\s*(\S.*)"),
    (Topic.REMEMBER, r"^(?:please )?remember\b\s*[:：,]?\s*(?:that |to )?(\S.*)"),
    (Topic.REMEMBER, r"^(?:请|帮我)*(?:记一下|记下|记住|备忘|笔记)\s*[:：,，]?\s*(\S.*)"),
    (
        Topic.UNSCHEDULE,
        r"\b(?:cancel|remove|delete|stop|end) (?:the |my |this )?(?:reminder|job|report)s?\b\W*([a-z0-9]{6})\b",
    ),
    (
        Topic.UNSCHEDULE,
        r"(?:取消|删除|停止|删掉)(?:这个|我的)?(?:定时)?(?:提醒|任务|日报|报告)\s*[:：]?\s*([a-z0-9]{6})\b",
    ),
    (
        Topic.JOBS,
        r"^(?:what(?:'s|’s| is| are| have you)|which|list|show)\b"
        r".{0,30}\b(?:scheduled?|planned|jobs|reminders)\b(?!\.\w)",
    ),
    (Topic.JOBS, r"^(?:my )?(?:schedule|jobs|reminders)\W*$"),
    (Topic.JOBS, r"(?:哪些|什么|列出|查看|显示|看看|我的)[^，。]{0,6}(?:提醒|定时任务|日程|安排)(?!我|\.\w)"),
    (Topic.JOBS, r"^[^，。]{0,4}(?:提醒|定时任务|日程|安排)[^，。我]{0,4}(?:哪些|什么)\W*$"),
    (Topic.REMIND, r"^(.{0,60}?)\b(?:please )?(?:can you |could you )?remind me\b(.*)"),
    (Topic.REMIND, r"^(.{0,40}?)提醒(?:一下)?我(.*)"),
    (Topic.REPORT, r"^(.*\b(?:send|give|write|make|post|bring)\b.*\breports?\b(?!\.\w).*)"),
    (Topic.REPORT, r"^(.*(?:发|写|做|生成|给我|出|每|点).*(?:日报|周报|报告)(?!\.\w).*|(?:日报|周报)(?!\.\w).*)"),
    (Topic.COUNT, r"\bcount\b(?: up)?(?: from 1)? to ([0-9]{1,2})\b"),
    (Topic.COUNT, r"数(?:数)?(?:数)?到\s*([0-9]{1,2})"),
    (Topic.FORGET, r"\b(?:delete|remove|forget) (?:the |my )?(?:note |fact )?(?:number |#)?([0-9]{1,6})\b"),
    (Topic.FORGET, r"(?:删除?|忘掉|忘记)\s*(?:第|笔记)?\s*([0-9]{1,6})"),
    (Topic.FLIGHT, r"\b(?:flights?|fly|flying|(?:air|plane) ?tickets?)\b|机票|航班|飞往|飞到|飞去|坐飞机"),
    (Topic.PLAN, r"\bplan\b.*\bday\b|(?:计划|规划|安排).*(?:今天|一天|日程)|(?:今天|一天).*(?:计划|规划|安排)"),
    (Topic.FAIL, r"\bfail\w*.*\btool|\btool\b.*\bfail|\bshow me an? (?:error|failure)\b"),
    (Topic.FAIL, r"(?:工具|演示|看看|展示).*(?:出错|失败|报错)|(?:出错|失败|报错).*工具"),
    (Topic.LONG, r"\blong (?:answer|text|reply|message)\b(?:[^0-9]*([0-9]{1,5}))?"),
    (Topic.LONG, r"长(?:的)?(?:回答|文|答案|消息|回复)(?:[^0-9]*([0-9]{1,5}))?"),
    (Topic.RECALL, r"\b(?:show|list|read|see|what|which|my)\b.*\bnotes\b(?!\.)|^notes\W*$"),
    (Topic.RECALL, r"\bwhat do you (?:remember|know about me)\b"),
    (Topic.RECALL, r"我的笔记|(?:查看|显示|看看|列出|有).*笔记|你(?:还|都)?记得(?:什么|哪些|些什么)"),
    (Topic.FILES, r"\b(?:what|which|list|show)\b.*\bfiles\b|(?:哪些|什么|列出|查看|显示).*文件|文件列表"),
    (Topic.CHART, r"\b(?:chart|plot|graph|draw)\b.*?" + _PATH),
    (Topic.CHART, r"(?:图表|画图|画出?|绘制).*?" + _PATH),
    (Topic.READ, r"\b(?:read|open|cat|show)\b\s*(?:me )?(?:the )?(?:file )?" + _PATH),
    (Topic.READ, r"(?:读取?|打开|看看|查看)(?:一下)?\s*(?:文件)?\s*" + _PATH),
    (Topic.WAIT, r"^(?:please )?wait (?:a moment|a bit|a second|(?:for )?([0-9]{1,4}) ?s)"),
    (Topic.WAIT, r"^请?(?:稍等|等一下|等一会|等待?\s*([0-9]{1,4})\s*秒)"),
    (
        Topic.TIME,
        r"\b(?:what(?:'s|’s)?|tell|current|the|which)\b.*\b(?:time|date|day)\b(?:.*?\bin ([^?!.,]{2,60}))?",
    ),
    (Topic.WHY, r"^why\b|^为什么|^为何|怎么会?(?:更|变|这么|那么)"),
    (Topic.TIME, r"^(?:time|date)\b(?: in ([^?!.,]{2,60}))?"),
    (Topic.HELP, r"^(?:help|more|what (?:else )?can you do(?: for me)?)\W*$"),
    (Topic.HELP, r"^(?:你?(?:还|都)?(?:会|能)(?:做|干|帮我做)?(?:什么|哪些)(?:事|事情)?|帮助|更多)\W*$"),
    (
        Topic.TIME,
        r"^(?:请问)?(?:现在|目前)?([\u4e00-\u9fff]{2,6}?)??(?:的|现在|今天|当地|是)*(?:几点|什么时间|时间|几号|日期|星期几)",
    ),
)
"""Compiled on first use, because that takes as long as importing the rest of the demo."""
_NOW = re.compile(r"\s*\b(?:right now|now|today|please|at the moment)\b\s*$", re.IGNORECASE)

_BEFORE_SUM = re.compile(
    r"^\s*(?:please |请问?|帮我)*(?:what(?:'s|’s| is)|how much is|calculate|compute|计算|算)?(?:一下)?\s*[:：]?\s*",
    re.IGNORECASE,
)
_AFTER_SUM = re.compile(r"\s*(?:等于|是)?(?:多少|几)?\s*[=?？。.!]*\s*$")
_SPOKEN = (
    (r"\bdivided by\b|除以", "/"),
    (r"\b(?:times|multiplied by)\b|乘以?|(?<=[0-9\s)])x(?=[0-9\s(])", "*"),
    (r"\bplus\b|加上?", "+"),
    (r"\bminus\b|减去?", "-"),
    (r"\bto the power of\b|的?次方", "^"),
    (r"\b(?:the )?square root of\s*\(?([0-9.]+)\)?|([0-9.]+)\s*的平方根", r"sqrt(\1\2)"),
)
_SUM = re.compile(
    r"(?:[0-9\s.,+\-*/^%()!×÷·−²³√π]"
    r"|\b(?:sqrt|abs|round|floor|ceil|factorial|gcd|lcm|max|min|ln|log10|log2|log|exp|sin|cos|tan|pi|of|mod)\b)+",
    re.IGNORECASE,
)
_OPERATOR = re.compile(r"[0-9)]\s*(?:[-+*/^%!×÷·−²³]|mod)|[a-z0-9√]\(", re.IGNORECASE)


def understand(text: str) -> Intent:
    """Return the intent of the first pattern that matches."""
    text = text[:READ_CHARS].strip()
    if expression := _sum_in(text):
        return Intent(Topic.MATHS, expression)
    for topic, pattern in _PATTERNS:
        if found := re.search(pattern, text, re.IGNORECASE | re.DOTALL):
            groups = found.groups()
            # The parts before and after "remind me" form one wish.
            subject = " ".join(groups) if topic is Topic.REMIND else next((group for group in groups if group), "")
            subject = subject.strip()
            return Intent(topic, _NOW.sub("", subject) if topic is Topic.TIME else subject)
    return Intent(Topic.OTHER)


def _sum_in(text: str) -> str:
    """Return the expression if the message is nothing but a sum, else an empty string."""
    if len(text) > MOST_SUM_CHARS:
        return ""
    text = _AFTER_SUM.sub("", _BEFORE_SUM.sub("", text, count=1), count=1)
    for pattern, sign in _SPOKEN:
        text = re.sub(pattern, sign, text, flags=re.IGNORECASE)
    return " ".join(text.split()) if _SUM.fullmatch(text) and _OPERATOR.search(text) else ""
