"""The language of a single word in an encoding of a whole alphabet, by how its letters stand together.

A few letters have no usual share of anything, but a wrong reading of them is no word: its pairs of letters are rare
ones, and its case changes within. Pairs are counted in summaries of Wikipedia, by the profiles of langdetect 1.0.9
(Apache 2.0): those that make up nine tenths of a language's words.
"""

import math
import re
from collections.abc import Mapping, Set

_PAIR = 2
_LETTERS: Mapping[str, str] = {
    "ru": "абвгдежзийклмнопрстуфхцчшщъыьэюяё",
    "uk": "абвгґдеєжзиіїйклмнопрстуфхцчшщьюя",
    "el": "αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊϋΐΰ",
    "he": "\u05d0\u05d1\u05d2\u05d3\u05d4\u05d5\u05d6\u05d7\u05d8\u05d9\u05da\u05db\u05dc\u05dd\u05de\u05df"
    "\u05e0\u05e1\u05e2\u05e3\u05e4\u05e5\u05e6\u05e7\u05e8\u05e9\u05ea",
    "ar": "".join(map(chr, range(0x0621, 0x064B))),
}
_PAIRS: Mapping[str, str] = {
    "ru": (
        "а и  пст в сй я е ранано ио никоенров ансков керго оор нодретооспотали мль ркапр гныритем олалин дво"
        "вакилеесх омт ойелтионвеогетар амеатисийит тнедалоотланниясо бдетрасмамиавчеаядин ь ииедемы икизиеоб"
        "твк илвиимцисеыйу пезаамрудоичмоевазляси ф з убоссакей лс нспаекр ьнокоентжесяыхгр чихтсадсаспбртьча"
        "ирвыив эднвнкрйсгахокттнл д слгию рництуегиопивлдуопурмуртндусбеозз щецерсфигеож хкуайахзв язоезулря"
        "вс ези шрыапблацыечисуидудиабащизнмпятунснабымшидсчншеиг жлудрупющаеучрмтыеж цг бысвачплкеняеевр"
    ),
    "uk": (
        "а наі стен пан ву ніо коя ра н с дтанонии роонти зер раловьк мй  уї  тліосв регольвіарог іорня комці"
        "х нн окидевасьийідю виь топозаатих атепадот туміівінка фриавпраслеикисодоледпелам медічн бнсіонтвода"
        "амверііїнцкімасеинителіте фртрьн гмулоетн  лр несіектьійічньпіоїою еіслиацгі яслвнадікк з обокмортми"
        "тіжеілкрдиутунднкуимджипакд руич чузіяегукб ієепгабосяляцизьібозякіцивемчасоєюіпьсуррнгропотсиє цусн"
        "бузнайчеізесктнувсцетвахазспсааї шщо цбіндбеув щїнклабірблбалус рсул х єхойссутнчиск"
    ),
    "el": (
        "ς  ττοουα ν ι ο  α σαιτη π κυ στικ ετακαη  μναποαν οηςε ό είτιίαροιαερμεριή μα δρααςοςηνατνοοναπειων"
        " γαρίνούιοτεντπόμοά κόετλοισ ηκοδικήολ έσεασνιπασηοικεπρρίαλέν νορ βλιομτρλλίο χώνελενλεληημ ήπεόςής"
        "ρελακάινύ γιοπσιμέμιακνεαγεπνηυντω ιεςυς όσυράότ λ φογιςτάέρσμγευρθευτήτησαμκράνυσδο θτήοσητσκμπργθη"
        "πιρωνόοίωςσαεκόνκτδεγοευαίίσιάιτηκνίχεί έςάλοτνωρχυπβρ υρόαυαφτόαθμάρηγκτίιλγργαχαήμτέβαμόλίσίόρόλδρ"
        "φοιδσοωσίτδαχρνήόμάρ άέλάτοδδηεσυμλάοκάσπληρέχκιρώίδιράδ ριμιεωρωτχοβοιόφαεμσσμηζεθοεγκλυλ ωνδσύγίύν"
        "νάυγαδκηόσόπμβδήηλλέρμύσρτιώπάέτ"
    ),
    "he": (
        " הת ה  בם  מי ל  ש אותר יםן  לית וניו ריליורא בישליורוולמואוייהינוהמיההו ע יונואברמי כד דיאיב לו נבו"
        "ינובפר פומירשיאלוןקומשדועל ק סראבאיקפויאילשו ר חטיפייד גנהלה תשנוסודסיופויתותיבמהאישס שרארעיחוק קיסו"
        "וועוועך כומריןטוקרהשלאבעט מאאנחירתמהיבימדרוק דש אתרבמתהרגויטרהג ע וגציושאשוהבשיסשמנתספנגמנהתוםטרגלכי"
        "גימדבתשבהעערכלצווצבהסט זשהלמח אחהקתרוכמסמעהבמלבלרכזיאמבנמחהפ צף גרממהחוחמצלתהנמבמקהסקהוזרגלקחרחלרטיצ"
        "הלהגלדלבזוץ  טדהחבתחשפצרבסכתיפרסבדנטתהפתרמשתז מטקבכננדיחיכרדמפאהללהכחדיערחלחקטעבחקלכוטעתנסתקמכלפגדיז"
        "לטסרקללנרפעדאברק"
    ),
    "ar": (
        "ال اة ي  من  ويةا  ف بفيلمم  أر د ل من عانت وا تريليلا لو ماينى اتياديب بااره نيرا يولام هها كبيلألع"
        " إلتع نايرعا سلىعلميونسي حورلكرةس برادكا قلداس نابويلسهولبلللويلومأوربلقسايوتيلحدامر جيمهيمويدقارومع"
        "لفمدائستق حدايتاملف بلحانو شلهلجعداعتونتنةلةبنمس دوبء لنترلشلإعرعباءمتبعوسركقدسميسدووت ريقدةافعةشرتق"
        "كيكوإلك نهمحجايتحيقيتمسلمةتحدرزيز نساحفرلردمعنأنكرعمتبفابوقروهندتهوديكسولغعيوفكليهجمقةتعسبقعطااقج يع"
        "شاح حروع خأسمجوقط يبحمض أمبدث اطئيرجلصكةكتوكرسجيهررقحويزصاهمصرمهبةغركمإنرنوجسنمقمباجأر صلطسطرتمصجلشي"
        "يفجناكتلاهلخ غشماصخلردممأح طتشتخذاحتإسضابهنطهذسكاوطقطولثقللذأبكنتنقوفةعتخربحزاقبصلخاجوطيدنطرثانجرفاز"
        "كبنظذيألتسيطثلتصاش"
    ),
}
"""The pairs of each language, one behind the other, the most frequent first; a space stands for an end of a word."""

_KNOWN = {
    language: frozenset(text[at : at + _PAIR] for at in range(0, len(text), _PAIR)) for language, text in _PAIRS.items()
}
_WORD = re.compile(r"[^\W\d_]+")
_COVERED, _FREQUENT = 0.9, 0.7
_NO_LETTER, _NO_SUCH_LETTER, _MIXED_CASE, _CAPITALS = 3.0, 4.0, 3.0, 2.0
"""The odds against a reading with a sign that is no letter, a letter of another language, or odd cases."""


def in_language(text: str, language: str) -> float:
    """Return how much speaks for a reading of a text as words of a language: positive if it is likelier than chance."""
    found = -_NO_LETTER * sum(not (char.isascii() or char.isalpha()) for char in text)
    return found + sum(_word(word, language) for word in _WORD.findall(text) if not word.isascii())


def of_frequent(text: str, frequent: Set[str], all_there_are: int) -> float:
    """Return the same of a reading as characters of a large set, of which some are frequent."""
    share = len(frequent) / all_there_are
    known, unknown = math.log(_FREQUENT / min(share, 0.5)), math.log((1 - _FREQUENT) / (1 - share))
    foreign = [char for char in text if not char.isascii()]
    return sum(known if char in frequent else unknown if char.isalpha() else -_NO_LETTER for char in foreign)


def _word(word: str, language: str) -> float:
    letters, pairs, low = _LETTERS[language], _KNOWN[language], word.lower()
    chance = len(pairs) / (len(letters) + 1) ** 2
    known, unknown = math.log(_COVERED / chance), math.log((1 - _COVERED) / (1 - chance))
    whole = f" {low} "
    found = sum(known if whole[at : at + _PAIR] in pairs else unknown for at in range(len(whole) - 1))
    if word not in (low, low.upper(), low.capitalize()):
        found -= _MIXED_CASE
    elif word == low.upper() != low:
        found -= _CAPITALS
    return found - _NO_SUCH_LETTER * sum(char not in letters for char in low)
