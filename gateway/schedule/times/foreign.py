"""Tells sentences about times in languages that Parley does not read, which a figure in them must not be taken for."""

from agent_core.late_pattern import LatePattern

_DAYS = LatePattern(
    r"\b(?:(?<![Gg]uten )[Mm]orgen|[Üü]bermorgen|[Hh]eute|[Jj]eden|[Tt]äglich|Montags?|Dienstags?|Mittwochs?"
    r"|Donnerstags?|Freitags?|Samstags?|Sonntags?|[Dd]emain|[Aa]ujourd['’]hui|[Cc]haque|lundi|mardi|mercredi|jeudi|vendredi|samedi"
    r"|dimanche|[Mm]añana|hoy|lunes|martes|miércoles|jueves|viernes|sábado|domingo|[Dd]omani|[Dd]opodomani|oggi|ogni"
    r"|lunedì|martedì|mercoledì|giovedì|venerdì|sabato|domenica|[Aa]manhã|hoje|terça|quinta|sexta"
    r"|vandaag|overmorgen|maandag|dinsdag|woensdag|donderdag|vrijdag|zaterdag|zondag|[Ii]morgon|idag)\b"
    r"|毎[日週月朝晩]|曜日|明日の|내일|오늘|매일"
    r"|(?i:завтра|сегодня|понедельник|вторник|сред[ау]\b|четверг|пятниц|суббот|воскресень|кажд)"
)
_BEFORE_A_TIME = LatePattern(
    r"(?:\b(?:um|gegen|ab|bis|à|vers|alle|a\s+las?|às|om|kl\.?|klo|в)|오전|오후|午前|午後)\s*\Z",
)
_OTHER_WORDS = LatePattern(r"[ぁ-んァ-ヶ]|[가-힣]|\d\s*時|[а-яА-Я]")


def is_foreign(text: str, *, any_word: bool = False) -> bool:
    """Return True if a text names a day in another language, or ends where a time of day would follow.

    `any_word`: any word in the script of another language counts.
    """
    patterns = (_DAYS, _BEFORE_A_TIME, _OTHER_WORDS) if any_word else (_DAYS, _BEFORE_A_TIME)
    return any(pattern.search(text) for pattern in patterns)
