"""Text of office programs and old systems is read in its encoding, written back in it, and never taken for another."""

import codecs
import zlib
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.encoding_candidates import CANDIDATES
from agent_core.encodings import read_text
from agent_core.file_text import LABELS

TEXTS = {
    "cp932": [
        "日付,商品,数量\n2026-01-05,りんご,12\n2026-01-06,みかん,8\n",
        "こんにちは、世界。これはテストです。\n",
        "氏名;電話\n田中;123\n",
        "Name,City\nTanaka,東京\nSuzuki,大阪\n",
        "①② 〒100",
    ],
    "euc_jp": ["日付,商品,数量\n2026-01-05,りんご,12\n", "こんにちは、世界。これはテストです。\n"],
    "gb18030": [
        "日期,产品,数量\n2026-01-05,苹果,12\n2026-01-06,香蕉,8\n",
        "你好，世界。这是一个测试文件。\n",
        "姓名,电话\n张三,123\n李四,456\n",
        "Hello 你好 world",
        "北京",
    ],
    "big5hkscs": [
        "日期,產品,數量\n2026-01-05,蘋果,12\n",
        "你好，世界。這是一個測試檔案。\n",
        "價格：100元",
        "Name,City\nWang,臺北\nLi,高雄\n",
    ],
    "cp949": ["날짜,제품,수량\n2026-01-05,사과,12\n", "안녕하세요 세계. 이것은 시험 파일입니다.\n", "가격: 100원"],
    "cp1251": [
        "Дата,Товар,Количество\n2026-01-05,Яблоки,12\n",
        "Привет, мир. Это проверка.\n",
        "отчёт за 2026 год: всё хорошо",
        "Москва",
    ],
    "koi8_r": ["Привет, мир. Это проверка кодировки.\n", "встреча в понедельник", "иван@почта"],
    "koi8_u": ["Привіт, світе! Їжак п'є чай\n", "Ім'я;Місто\nОлексій;Київ\n"],
    "iso8859_5": ["Привет, мир! Как дела?\n", "Дата;Товар\n2026-01-05;Яблоки\n", "встреча в понедельник"],
    "cp866": ["Привет, мир. Это проверка\n", "┌────┐\n│Меню│\n└────┘\n"],
    "cp1252": [
        "Datum;Stadt\n2026-01-05;Zürich\n",
        "Größe: 12 €\n",
        "The naïve façade of the résumé was “perfect”.\n",
        "Name,City\nJosé,São Paulo\n",
        "Mr. O’Brien’s notes",
        "price 5 €",
        "10 °C",
        "10 m³, 5 µm, £5, tolerance ±5",
        "¿Dónde está el niño?",
        "Það er gott að sjá þig",
    ],
    "iso8859_2": [
        "Příští čtvrtek bude oběd, žádáme o účast\n",
        "Sejdeme se v pátek večer u nádraží.",
        "Schůzka zítra v 10:00",
        "Dziękuję",
        "książka",
        "Név;Város\nGyőző;Székesfehérvár\n",
        "Čakovec, Šibenik, Đakovo",
    ],
    "cp1250": [
        "Příští čtvrtek: oběd\n",
        "Jméno;Město;Částka\nJiří Dvořák;Plzeň;12\nŠárka Nováková;Brno;8\n",
        "Zażółć gęślą jaźń",
        "Árvíztűrő tükörfúrógép\n",
        "Bucureşti",
        "Příliš žluťoučký kůň úpěl ďábelské ódy\n",
        "Name;Miasto\nJan;Łódź\n",
        "Schůzka zítra v 10:00",
        "děkuji",
        "Účet č. 12",
        "Środa",
        "Név;Város\nGyőző;Székesfehérvár\n",
        "Bună ziua, vă trimit factura pe luna februarie.",
        "Sastanak je u četvrtak.",
        "Stretnutie je vo štvrtok ráno.",
    ],
    "cp1255": ["שלום עולם, הפגישה ביום שני\n", "שם,עיר,כמות\nדוד,תל אביב,12\n", "ישראל"],
    "cp1257": [
        "Šiandien ąžuolas žydi\n",
        "Ačiū",
        "pirkiniai: pienas, sūris, kiaušiniai",
        "Vārds;Pilsēta\nJānis;Rīga\nĒriks;Liepāja\n",
        "Rēķins par februāri",
        "Paldies, tiekamies piektdienā!",
        "Nimi;Linn\nJüri;Pärnu\nÕnne;Võru\n",
    ],
    "iso8859_13": ["Ačiū", "Labdien, tikšanās ir rīt desmitos.", "Palun saatke arve veebruari eest, õunad"],
    "cp775": ["Ačiū", "Rēķins par februāri", "Vardas;Miestas\nŽilvinas;Šiauliai\nJūratė;Panevėžys\n"],
    "cp852": ["děkuji", "Zażółć gęślą jaźń", "Imię;Miasto\nJan;Łódź\n", "Dobar dan, šaljem račun za veljaču."],
    "mac_latin2": ["Příliš žluťoučký kůň", "Imię;Miasto\nJan;Łódź\nŻaneta;Gdańsk\n"],
    "mac_cyrillic": [
        "Привет, мир",
        "Имя;Город\nИван;Москва\n",
        "Список покупок: молоко, хлеб, сыр",
        "Отчёт за февраль",
        "Ім'я;Місто\nОлексій;Київ\n",
    ],
    "cp037": ["Hello, world", "Name,City\nAnn,London\n", "TOTAL 12.50"],
    "cp273": ["Größe;Straße\n12;Köln\n", "Schöne Grüße aus München"],
    "cp500": ["Mañana por la mañana"],
    "cp1140": ["Price: 5 €"],
    "cp850": [
        "╔══════╗\n║ Größe║\n╚══════╝\n",
        "┌──────┐\n│ Menu │\n└──────┘\n",
        "Größe;Straße;Müller\n12;Köln;Jürgen\n",
        "Résumé;Café;élève\n1;2;3\n",
    ],
    "mac_roman": ["Café Größe naïve — résumé\n"],
    "cp1253": ["Καλημέρα", "Όνομα;Πόλη\nΓιώργος;Αθήνα\n", "Καλημέρα κόσμε, αυτό είναι ένα τεστ\n"],
    "cp1254": [
        "Şişli, İğdır\n",
        "Adı;Şehir\nAyşe;Iğdır\nİbrahim;Muş\n",
        "Günaydın, toplantı pazartesi günü saat dokuzda.\n",
        "İstanbul'da güneşli bir gün, çok güzel\n",
    ],
    "cp1256": ["مرحبا بالعالم، هذا اختبار\n"],
    "cp874": ["สวัสดี", "ชื่อ,เมือง\nสมชาย,กรุงเทพ\n", "ประชุมวันจันทร์ เวลา 9 โมง", "สวัสดีชาวโลก\n"],
    "utf_7": ["Größe und Straße – bitte 日本語\n"],
    "hz": ["你好，世界。会议在星期一\n", "Name,城市\nLi,北京\n"],
    "iso2022_jp": ["こんにちは、世界"],
    "utf-16-le": ["hello,world\n1,2\n", "日期,产品\n1,苹果\n", "Привет, мир\n"],
    "utf-16-be": ["hello,world\n1,2\n", "日期,产品\n"],
    "utf-32-le": ["Grüße\n"],
}
EVERY = [(encoding, text) for encoding, texts in TEXTS.items() for text in texts]


@pytest.mark.parametrize(("encoding", "text"), EVERY)
def test_short_texts_are_read_in_the_encoding_that_they_have(encoding: str, text: str) -> None:
    found = read_text(text.encode(encoding))

    assert found is not None
    assert (found.text, found.broken) == (text, 0)
    assert found.is_guess or encoding == "iso2022_jp"


@pytest.mark.parametrize(("encoding", "text"), EVERY)
def test_what_was_read_is_written_back_byte_for_byte(encoding: str, text: str) -> None:
    content = text.encode(encoding)
    found = read_text(content)

    assert found is not None
    assert found.back(found.text) == content


def test_lines_of_a_mainframe_are_lines_and_stay_so() -> None:
    content = "NAME\x85ANN\x85".encode("cp037")
    found = read_text(content)

    assert found is not None
    assert found.text == "NAME\nANN\n"
    assert found.back("NAME\nBEN\n") == "NAME\x85BEN\x85".encode("cp037")


def test_of_two_encodings_that_are_nearly_as_likely_both_are_named() -> None:
    found = read_text("Čtvrtek".encode("cp1250"))

    assert found is not None
    assert found.note == "read as Windows-1252, which is a guess (Windows-1250 is nearly as likely)"


def test_encodings_that_read_the_same_are_no_rivals() -> None:
    found = read_text("Größe und Straße".encode("cp1252"))

    assert found is not None
    assert found.note == "read as Windows-1252, which is a guess"


@pytest.mark.parametrize("label", LABELS.values())
def test_programs_know_an_encoding_by_the_name_that_is_told(label: str) -> None:
    assert codecs.lookup(label.partition(" (")[0])


@given(st.text())
def test_utf_8_is_never_taken_for_anything_else(text: str) -> None:
    controls = sum(char < " " and char not in "\t\n\r\f\x1b" for char in text)
    found = read_text(text.encode())

    if not controls and "\x7f" not in text and "\x1b" not in text:
        assert found is not None
        assert (found.encoding, found.is_guess, found.broken) == ("utf-8", False, 0)
        assert found.text == text.removeprefix("\ufeff")


@pytest.mark.parametrize("seed", range(20))
def test_random_bytes_and_archives_stay_binary(seed: int) -> None:
    chance = Random(seed)  # noqa: S311 - the same bytes in every run

    for content in (
        chance.randbytes(3000),
        zlib.compress(chance.randbytes(400)),
        b"PK\x03\x04" + chance.randbytes(300),
        bytes(range(128, 256)) * 4,
    ):
        assert read_text(content) is None


@pytest.mark.parametrize(
    "content",
    [
        b"a,b\n1,\0\n2,3\n",
        b"id;name\r\n1;Ann\0\r\n",
        b"docs/a.md\0docs/b.md\0src/main.py\0",
        b"line 1\n" * 90 + b"\0" * 40,
    ],
)
def test_ascii_with_a_few_nuls_is_not_read_as_chinese(content: bytes) -> None:
    assert read_text(content) is None


@given(st.binary(max_size=300))
def test_whatever_comes_is_read_or_refused_and_says_what_was_lost(content: bytes) -> None:
    found = read_text(content)

    assert found is None or found.broken or found.back(found.text) == content or found.encoding == "iso2022_jp"


@pytest.mark.parametrize(
    "text",
    ["bob+abc-x@example.com", "1+1=2, c+Foo-bar", "~{name}~ and ~}", "a ~{x~} b", "x+=1; y+-2", "C++ and +abcd-"],
)
def test_ascii_that_only_looks_escaped_stays_as_it_is(text: str) -> None:
    found = read_text(text.encode())

    assert found is not None
    assert (found.text, found.is_guess) == (text, False)


def test_lines_in_two_encodings_are_read_as_utf_8_and_what_was_lost_is_counted() -> None:
    found = read_text("Größe ok\n".encode() + "Straße alt\n".encode("cp1252"))

    assert found is not None
    assert found.text == "Größe ok\nStra\ufffde alt\n"
    assert found.note == "1 broken character shown as \ufffd"


def test_a_large_file_is_judged_by_its_start() -> None:
    text = "日期,产品,数量\n" * 20_000

    found = read_text(text.encode("gb18030"))

    assert found is not None
    assert found.text == text


def test_every_encoding_has_a_name_of_its_own() -> None:
    assert len({LABELS[each.encoding] for each in CANDIDATES}) == len(CANDIDATES)
