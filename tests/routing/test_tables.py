"""The table format: what parses, what does not, which row decides, which file is asked."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchlas_py import config
from batchlas_py.errors import TableError
from batchlas_py.problem import Problem
from batchlas_py.routing import tables
from batchlas_py.routing.tables import ANY, UNBOUNDED, Range, Row, Table, parse, write

HEAD = "# made for a test\n# dtype n nrhs batch ranking\n"
TABLE = """\
# getrf on sm_90: an example
#
# dtype       n             nrhs        batch             ranking
  float32     5..32         any         any               tiny vendor cta blocked
  float32     33..          any         1..255            vendor blocked
  complex64   8..8          0..2        256..             vendor
"""


def getrf(n: int, batch: int = 1, dtype: str = "float32", nrhs: int = 0) -> Problem:
    return Problem("getrf", dtype, n, n, batch, nrhs)


def test_parse_then_write_gives_the_same_bytes() -> None:
    assert write(parse(TABLE, "getrf")) == TABLE


def test_rows_hold_what_the_text_says() -> None:
    table = parse(TABLE, "getrf")
    assert table.header == ("# getrf on sm_90: an example", "#")
    assert table.rows == (
        Row("float32", Range(5, 32), ANY, ANY, ("tiny", "vendor", "cta", "blocked")),
        Row("float32", Range(33, UNBOUNDED), ANY, Range(1, 255), ("vendor", "blocked")),
        Row("complex64", Range(8, 8), Range(0, 2), Range(256, UNBOUNDED), ("vendor",)),
    )
    assert [table.line(row) for row in table.rows] == [4, 5, 6]


def test_loose_spacing_parses_and_is_written_in_columns() -> None:
    loose = "#   dtype n nrhs batch   ranking\nfloat32 5..32 any 0.. tiny   vendor\n"
    assert parse(write(parse(loose, "getrf")), "getrf") == parse(loose, "getrf")
    assert write(parse(loose, "getrf")).splitlines()[1] == (
        "  float32     5..32         any         any               tiny vendor"
    )


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("float16 any any any tiny", "dtype: got 'float16', accepted are float32, float64, complex64, "),
        (
            "float32 any any any tyni",
            "ranking: got 'tyni', accepted for getrf are tiny, cta, blocked, vendor",
        ),
        ("float32 any any any tiny tiny", "ranking: 'tiny' stands twice"),
        ("float32 any any any", "got 4 cells, a row is dtype n nrhs batch ranking"),
        ("", "got 0 cells"),
        ("float32 5..6 any any cta\n# a remark among the rows", "dtype: got '#'"),
        ("float32 5-32 any any tiny", "n: got '5-32', accepted are ranges like 5..32, 33.. and any"),
        ("float32 ..32 any any tiny", "n: got '..32'"),
        ("float32 8 any any tiny", "n: got '8'"),
        ("float32 any 9..5 any tiny", "nrhs: got '9..5', which is empty"),
        ("float32 any any -1..5 tiny", "batch: got '-1..5'"),
        ("float32 any any any tiny\n float32 5..6 any any cta", "the rows above hold every problem of this"),
    ],
)
def test_malformed_row_names_file_and_line(rows: str, message: str) -> None:
    line = HEAD.count("\n") + rows.count("\n") + 1
    with pytest.raises(TableError) as caught:
        parse(HEAD + rows + "\n", "getrf", "my.txt")
    assert str(caught.value).startswith(f"my.txt:{line}: {message}")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 1),
        ("float32 any any any tiny\n", 1),
        ("# made for a test\nfloat32 any any any tiny\n", 1),
        ("# one\n# dtype n batch ranking\nfloat32 any any tiny\n", 2),
    ],
)
def test_column_names_must_stand_above_the_rows(text: str, line: int) -> None:
    with pytest.raises(TableError, match=rf"^my\.txt:{line}: .*'# dtype n nrhs batch ranking'"):
        parse(text, "getrf", "my.txt")


def test_rows_that_only_together_hold_a_row_make_it_unreachable() -> None:
    rows = "float32 1..8 any any tiny\nfloat32 9..16 any any cta\nfloat32 4..12 any any vendor\n"
    with pytest.raises(TableError, match=":5: the rows above hold"):
        parse(HEAD + rows, "getrf")


def test_rows_of_another_dtype_or_with_one_point_left_are_reachable() -> None:
    rows = "float32 1..8 any any tiny\nfloat64 1..8 any any tiny\nfloat32 1..9 any any vendor\n"
    table = parse(HEAD + rows, "getrf")
    assert table.row(getrf(8)) == table.rows[0]
    assert table.row(getrf(9)) == table.rows[2]


def test_first_match_wins_and_there_is_no_nearest_neighbour() -> None:
    table = parse(TABLE, "getrf")
    assert table.row(getrf(4)) is None
    assert table.row(getrf(5)) == table.row(getrf(32)) == table.rows[0]
    assert table.row(getrf(33, 255)) == table.rows[1]
    assert table.row(getrf(33, 256)) is None
    assert table.row(getrf(8, 256, "complex64", 2)) == table.rows[2]
    assert table.row(getrf(8, 256, "complex64", 3)) is None
    assert table.row(getrf(8, 256, "float64", 2)) is None


SMALL = 5
ranges = st.tuples(st.integers(0, SMALL), st.integers(0, SMALL) | st.just(UNBOUNDED)).map(
    lambda ends: Range(min(ends), max(ends))
)
ranking = st.permutations(["tiny", "cta", "blocked", "vendor"]).map(tuple)
rows_strategy = st.lists(st.builds(Row, st.just("float32"), ranges, ranges, ranges, ranking), max_size=5)


@given(rows_strategy)
def test_parse_agrees_with_a_count_of_points(rows: list[Row]) -> None:
    # Every range ends within the small grid or never, so the grid plus one point decides all.
    taken: set[tuple[int, ...]] = set()
    reachable = True
    for row in rows:
        points = product(*(range(r.low, min(r.high, SMALL + 1) + 1) for r in row.box))
        fresh = set(points) - taken
        reachable &= bool(fresh)
        taken |= fresh
    text = write(Table(("# drawn",), tuple(rows)))
    if not reachable:
        with pytest.raises(TableError, match="the rows above hold"):
            parse(text, "getrf")
    else:
        assert parse(text, "getrf") == Table(("# drawn",), tuple(rows))
        assert write(parse(text, "getrf")) == text


Put = Callable[[str, str, str], Path]


@pytest.fixture
def put(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, environment: object) -> Put:
    """Write a one-row table: ``put(owner, file, ranking)``; both folders start empty."""
    folders = {"user": tmp_path / "tables", "shipped": tmp_path / "shipped"}
    monkeypatch.setattr(tables, "tables_folder", lambda: folders["shipped"])

    def write_file(owner: str, file: str, ranking: str) -> Path:
        folders[owner].mkdir(exist_ok=True)
        path = folders[owner] / file
        path.write_text(f"{HEAD}float32 1..9 any any {ranking}\n", "utf-8")
        config.refresh()
        return path

    return write_file


def sources(arch: str, n: int = 5) -> list[str]:
    return [answer.source for answer in tables.consult(getrf(n), arch, config.current())]


def test_no_folder_no_answer(put: Put) -> None:
    assert sources("sm_90") == []


def test_user_table_goes_before_the_shipped_one(put: Put) -> None:
    put("shipped", "getrf.sm_90.txt", "vendor")
    path = put("user", "getrf.sm_90.txt", "tiny")
    assert sources("sm_90") == [f"user table {path}:3", "shipped table getrf.sm_90.txt:3"]


def test_table_that_does_not_hold_the_problem_does_not_answer(put: Put) -> None:
    put("shipped", "getrf.sm_90.txt", "vendor")
    put("user", "getrs.sm_90.txt", "vendor")
    assert sources("sm_90", n=10) == []


def test_nearest_older_arch_answers_and_says_so(put: Put) -> None:
    for number in (80, 89, 100):
        put("shipped", f"getrf.sm_{number}.txt", "vendor")
    assert sources("sm_90") == ["shipped table getrf.sm_89.txt:3 (nearest older than sm_90)"]
    assert sources("sm_100") == ["shipped table getrf.sm_100.txt:3"]
    assert sources("sm_75") == []


def test_nearer_arch_goes_before_the_owner(put: Put) -> None:
    put("shipped", "getrf.sm_90.txt", "vendor")
    path = put("user", "getrf.sm_89.txt", "tiny")
    assert sources("sm_90") == [
        "shipped table getrf.sm_90.txt:3",
        f"user table {path}:3 (nearest older than sm_90)",
    ]


def test_tables_are_read_again_only_after_refresh(put: Put) -> None:
    path = put("user", "getrf.sm_90.txt", "tiny")
    assert [a.row.ranking for a in tables.consult(getrf(5), "sm_90", config.current())] == [("tiny",)]
    path.write_text(path.read_text("utf-8").replace("tiny", "cta"), "utf-8")
    assert [a.row.ranking for a in tables.consult(getrf(5), "sm_90", config.current())] == [("tiny",)]
    config.refresh()
    assert [a.row.ranking for a in tables.consult(getrf(5), "sm_90", config.current())] == [("cta",)]


def test_malformed_file_names_its_path(put: Put) -> None:
    path = put("user", "getrf.sm_90.txt", "tyni")
    with pytest.raises(TableError) as caught:
        sources("sm_90")
    assert str(caught.value).startswith(f"{path}:3: ranking: got 'tyni'")


def test_misnamed_file_is_an_error(put: Put) -> None:
    path = put("user", "getrf.sm90.txt", "tiny")
    with pytest.raises(TableError) as caught:
        sources("sm_90")
    assert str(caught.value).startswith(f"{path}: tables are named getrf.<arch>.txt; arch: got 'sm90'")
