"""Archives that are made to harm whoever reads them are refused, in little time and memory."""

import bz2
import gzip
import io
import lzma
import struct
import tarfile
import tracemalloc
import zipfile
from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.skills.archive import MOST_ENTRIES, ArchiveTrouble, BadArchive, packed_skill
from tests.agent_core.skills.packing import SKILL_MD, tarred, zipped
from tests.cpu import cpu_seconds_at_most

MD = {"rates/SKILL.md": SKILL_MD}


def refusal(content: bytes) -> ArchiveTrouble:
    with pytest.raises(BadArchive) as raised:
        packed_skill(content, "title")
    return raised.value.trouble


def block(kind: bytes, content: bytes = b"", *, size: int | None = None, name: str = "rates/x") -> bytes:
    """Return a header of a tar with its content, as it is, whatever it announces."""
    info = tarfile.TarInfo(name)
    info.type = kind
    info.size = len(content)
    header = bytearray(info.tobuf(tarfile.USTAR_FORMAT))
    if size is not None:
        header[124:136] = (b"\xff" if size < 0 else b"\x80") + size.to_bytes(11, "big", signed=True)
        header[148:156] = b"        "
        header[148:156] = f"{sum(header):06o}\0 ".encode()
    return bytes(header) + content + b"\0" * (-len(content) % tarfile.BLOCKSIZE)


def pax(**fields: str) -> bytes:
    records = b""
    for key, value in fields.items():
        body = f" {key}={value}\n".encode()
        length = len(body) + 1
        while len(str(length)) + len(body) != length:
            length += 1
        records += str(length).encode() + body
    return records


def tar(*blocks: bytes) -> bytes:
    return b"".join([*blocks, b"\0" * 1024])


def zip64(count: int) -> bytes:
    """Return a zip whose usual end tells of one entry, and whose other end, which counts, of all."""
    whole = zipped({"rates/SKILL.md": SKILL_MD, **{f"a/{number}": b"" for number in range(count)}})
    at = whole.rfind(b"PK\x05\x06")
    _, _, _, _, _, size, offset, _ = struct.unpack("<4s4H2LH", whole[at : at + 22])
    record = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, count + 1, count + 1, size, offset)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, at, 1)
    return whole[:at] + record + locator + struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, 100, offset, 0)


KINDS = [tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.SOLARIS_XHDTYPE]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [3_000, 100_000])
def test_headers_that_only_announce_headers_are_refused(kind: bytes, count: int) -> None:
    bare = tar(block(kind) * count, block(tarfile.REGTYPE, SKILL_MD.encode(), name="rates/SKILL.md"))
    packed = gzip.compress(bare, compresslevel=1)

    assert refusal(bare) in (ArchiveTrouble.NO_ARCHIVE, ArchiveTrouble.NO_SKILL)
    assert refusal(packed) in (ArchiveTrouble.NO_ARCHIVE, ArchiveTrouble.NO_SKILL, ArchiveTrouble.BOMB)


def test_the_headers_of_real_archives_are_read() -> None:
    long = "rates/" + "x" * 150 + ".txt"
    out = io.BytesIO()
    with tarfile.open(
        fileobj=out, mode="w:gz", format=tarfile.PAX_FORMAT, pax_headers={"comment": "c" * 52}
    ) as archive:
        for path, text in {**MD, long: "x", "rates/\u00fc.txt": "y"}.items():
            info = tarfile.TarInfo(path)
            info.size = len(text.encode())
            info.pax_headers = {"mtime": "1.5"}
            archive.addfile(info, io.BytesIO(text.encode()))

    assert packed_skill(out.getvalue(), "title").files.keys() == {"SKILL.md", long[6:], "\u00fc.txt"}
    gnu = io.BytesIO()
    with tarfile.open(fileobj=gnu, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for path in ("rates/SKILL.md", long):
            info = tarfile.TarInfo(path)
            info.size = len(SKILL_MD)
            archive.addfile(info, io.BytesIO(SKILL_MD.encode()))
    assert packed_skill(gnu.getvalue(), "title").files.keys() == {"SKILL.md", long[6:]}


@pytest.mark.parametrize(
    "blocks",
    [
        (block(tarfile.XGLTYPE, pax(**{f"k{number}": "v" for number in range(20_000)})), block(tarfile.XHDTYPE) * 9),
        (block(tarfile.XHDTYPE, size=2**33), block(tarfile.REGTYPE)),
        (block(tarfile.GNUTYPE_LONGNAME, b"x" * 100_000), block(tarfile.REGTYPE)),
        (block(tarfile.REGTYPE, size=-512),),
        (block(tarfile.XHDTYPE, size=-512), block(tarfile.REGTYPE)),
        (block(tarfile.XHDTYPE, pax(size="-1024")), block(tarfile.REGTYPE)),
        (block(tarfile.XHDTYPE, pax(**{"GNU.sparse.map": "1,x", "GNU.sparse.name": "a"})), block(tarfile.REGTYPE)),
        (block(tarfile.XHDTYPE, pax(path="../../evil")), block(tarfile.REGTYPE)),
        (block(tarfile.XHDTYPE, pax(path="a" * 5_000)), block(tarfile.REGTYPE)),
    ],
)
def test_headers_that_lie_are_refused(blocks: tuple[bytes, ...]) -> None:
    whole = tar(block(tarfile.REGTYPE, SKILL_MD.encode(), name="rates/SKILL.md"), *blocks)

    with cpu_seconds_at_most(2):
        assert refusal(whole) in (ArchiveTrouble.NO_ARCHIVE, ArchiveTrouble.PATH, ArchiveTrouble.SPECIAL)


def test_the_entries_of_a_zip_are_counted_whatever_its_end_tells() -> None:
    whole = zip64(60_000)
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        assert len(archive.infolist()) == 60_001, "the library goes by the other end"

    tracemalloc.start()
    with cpu_seconds_at_most(0.5):
        assert refusal(whole) is ArchiveTrouble.TOO_MANY
    assert tracemalloc.get_traced_memory()[1] < 1_000_000
    tracemalloc.stop()


@pytest.mark.parametrize("compression", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_compressions_that_skills_never_use_are_refused(compression: int) -> None:
    assert refusal(zipped(MD, compression=compression)) is ArchiveTrouble.NO_ARCHIVE


def test_a_zip_of_a_later_kind_and_one_with_a_password_are_refused() -> None:
    whole = bytearray(zipped(MD))
    at = whole.find(b"PK\x01\x02")
    whole[at + 6] = 200
    assert refusal(bytes(whole)) is ArchiveTrouble.NO_ARCHIVE

    locked = bytearray(zipped(MD))
    locked[locked.find(b"PK\x01\x02") + 8] |= 1
    assert refusal(bytes(locked)) is ArchiveTrouble.ENCRYPTED


def test_archives_within_archives_are_files_like_others() -> None:
    inner = zipped({f"{number}": b"" for number in range(100)})

    assert packed_skill(zipped({**MD, "rates/inner.zip": inner}, compression=zipfile.ZIP_STORED), "t").name == "rates"
    assert packed_skill(tarred({**MD, "rates/inner.tar.gz": tarred()}), "t").name == "rates"
    assert refusal(gzip.compress(gzip.compress(tarred()))) is ArchiveTrouble.NO_ARCHIVE
    for packer in (bz2.compress, lzma.compress):
        assert refusal(packer(tarred(mode="w"))) is ArchiveTrouble.NO_ARCHIVE


def many_streams(count: int) -> bytes:
    return gzip.compress(b"") * count + tarred()


def many_skills(count: int) -> bytes:
    return tarred({f"s{number}/SKILL.md": "-" for number in range(count)}, mode="w")


def many_files(count: int) -> bytes:
    return zipped({"rates/SKILL.md": SKILL_MD, **{f"other/{number}": b"x" for number in range(count)}})


def many_headers(count: int) -> bytes:
    shared = block(tarfile.XGLTYPE, pax(**{f"k{number}": "v" for number in range(400)}))
    return tar(shared, *(block(tarfile.XHDTYPE, pax(path=f"a/{n}")) + block(tarfile.REGTYPE) for n in range(count)))


@pytest.mark.parametrize("made", [many_streams, many_skills, many_files, many_headers])
def test_the_worst_that_fits_takes_seconds(made: Callable[[int], bytes]) -> None:
    count = 100_000 if made is many_streams else MOST_ENTRIES - 10
    content = made(count)
    with cpu_seconds_at_most(5), suppress(BadArchive):
        packed_skill(content, "title")


odd_fields = st.builds(pax, size=st.sampled_from(["-1", "x", "9" * 30, "5"]), path=st.text(max_size=9))


@given(
    st.lists(
        st.builds(
            block,
            st.sampled_from([*KINDS, tarfile.REGTYPE, tarfile.GNUTYPE_SPARSE, tarfile.DIRTYPE, b"Z"]),
            st.binary(max_size=60) | odd_fields,
            size=st.none() | st.integers(-600, 2**40),
            name=st.sampled_from(["rates/SKILL.md", "a", "", "/x"]),
        ),
        max_size=6,
    ),
    st.binary(max_size=20),
    st.integers(0, 3_000),
)
def test_whatever_a_tar_announces_nothing_else_is_raised(blocks: list[bytes], noise: bytes, at: int) -> None:
    whole = tar(*blocks)
    for content in (whole, whole[:at] + noise + whole[at + len(noise) :], whole[:at]):
        with suppress(BadArchive):
            packed_skill(content, "title")


@given(st.integers(0, 2_000), st.binary(max_size=4), st.sampled_from([zipped(), zip64(3), zipped(compression=0)]))
def test_whatever_a_zip_tells_of_itself_nothing_else_is_raised(at: int, noise: bytes, whole: bytes) -> None:
    at %= len(whole)
    with suppress(BadArchive):
        packed_skill(whole[:at] + noise + whole[at + len(noise) :], "title")
