"""Files are read record by record; what is broken is set aside alone."""

import bz2
import gzip
import json
import lzma
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pegboard.errors import SourceError
from pegboard.trace.importers import Skipped, read
from pegboard.trace.importers.stream import Record, parsed, records

ROWS = [{"n": number, "text": "é" * number} for number in range(5)]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS).encode()


def values(path):
    return [item.value for item in records(path) if isinstance(item, Record)]


@pytest.mark.parametrize(
    "content",
    [
        LINES,
        gzip.compress(LINES),
        bz2.compress(LINES),
        lzma.compress(LINES),
        b"\xef\xbb\xbf" + LINES,
        json.dumps(ROWS).encode(),
        json.dumps(ROWS, indent=2).encode(),
        "\n".join(json.dumps(row, indent=1) for row in ROWS).encode(),
        b"\n\n" + LINES.replace(b"\n", b"\r\n\r\n"),
        LINES.decode().encode("utf-16"),
    ],
    ids=["lines", "gzip", "bzip2", "xz", "bom", "array", "pretty array", "pretty values", "blank lines", "utf-16"],
)
def test_every_spelling_of_a_file_gives_the_same_values(tmp_path, content):
    path = tmp_path / "file"
    path.write_bytes(content)
    assert values(path) == ROWS


def test_zstandard_is_read_where_pyarrow_is(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    path = tmp_path / "file.jsonl.zst"
    with arrow.output_stream(str(path), compression="zstd") as file:
        file.write(LINES)
    assert values(path) == ROWS


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress], ids=["gzip", "bzip2", "xz"])
def test_an_archive_that_is_damaged_in_the_middle_is_told_and_ends_nothing(tmp_path, pack):
    path = tmp_path / "file"
    packed = bytearray(pack(b"".join(json.dumps({"n": n * 7919 % 10007}).encode() + b"\n" for n in range(9000))))
    packed[len(packed) // 2 : len(packed) // 2 + 40] = b"\x00" * 40
    path.write_bytes(bytes(packed))
    assert broken(list(records(path)))


def test_a_broken_line_is_set_aside_with_its_number(tmp_path):
    path = tmp_path / "file.jsonl"
    path.write_bytes(LINES.replace(b'{"n": 2', b'{"n": '))
    found = list(records(path))
    assert [str(item) for item in found if isinstance(item, Skipped)][0].startswith("file.jsonl:3: no JSON")
    assert values(path) == [row for row in ROWS if row["n"] != 2]


@pytest.mark.parametrize("size", [0.3, 0.6, 0.99])
def test_a_cut_archive_gives_what_stands_before_the_cut(tmp_path, size):
    path = tmp_path / "file.gz"
    rows = [json.dumps({"n": number, "noise": f"{number * 7919 % 10007:x}"}) for number in range(3000)]
    packed = gzip.compress("\n".join(rows).encode())
    path.write_bytes(packed[: int(len(packed) * size)])
    found = list(records(path))
    assert isinstance(found[-1], Skipped)
    assert [item.value["n"] for item in found if isinstance(item, Record)] == list(
        range(len(found) - len(broken(found)))
    )


def broken(found):
    return [item for item in found if isinstance(item, Skipped)]


def test_a_cut_document_gives_its_whole_elements(tmp_path):
    path = tmp_path / "file.json"
    path.write_text(json.dumps(ROWS, indent=2)[:-20])
    assert values(path) == ROWS[:-1]


@pytest.mark.parametrize("content", [b"", b"\n \n", b"[]", b"{}\n"])
def test_an_empty_file_has_no_runs(tmp_path, content):
    path = tmp_path / "file"
    path.write_bytes(content)
    assert [item for item in read(path) if not isinstance(item, Skipped)] == []


def test_a_missing_file_is_an_error_with_its_name(tmp_path):
    with pytest.raises(SourceError, match=r"gone\.jsonl"):
        list(records(tmp_path / "gone.jsonl"))


def test_formats_may_be_mixed_in_one_file(tmp_path):
    path = tmp_path / "mixed.jsonl"
    neutral = {"run_id": "n", "calls": [{"tool": "a", "args": {}}]}
    native = {"id": "p", "calls": [{"tool": "b"}]}
    path.write_text("\n".join(map(json.dumps, [neutral, {"what": 1}, native, neutral])))
    found = list(read(path))
    assert [getattr(item, "id", None) for item in found] == ["n", None, "p", "n"]
    assert "no known trace format" in found[1].message


NESTED = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(st.characters())),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3)),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=4), NESTED, max_size=4), st.booleans())
@example({"a": "\ud800"}, True)
@example({"a": 10**40, "b": -0.0, "c": 5e-324}, False)
@example({"a": [[[[]]]] * 3, "b": float("inf")}, False)
def test_a_line_means_what_json_says_whoever_reads_it(value: dict[str, Any], ascii: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii)
    line = text.encode("utf-8", "surrogatepass")
    [found] = parsed(line, "f:1", 1)
    try:
        meant = json.loads(line)
    except UnicodeDecodeError:
        assert isinstance(found, Skipped)
        return
    assert isinstance(found, Record)
    assert repr(found.value) == repr(meant)
