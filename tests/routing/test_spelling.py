"""Routes that spell variants: where they are taken, what they put in force, what is said of wrong ones."""

from __future__ import annotations

import pytest

from batchlas_py import config
from batchlas_py.config import ROUTES, SETTINGS, Choice, Spelling, spelling
from batchlas_py.errors import PinError
from batchlas_py.family import Call, Enqueue
from batchlas_py.problem import RECORDED, Problem
from batchlas_py.routing.explain import explain
from batchlas_py.routing.run import prepare, run, trace
from batchlas_py.routing.select import select

from .fakes import Environment, Register, always, family

SM_89 = RECORDED["sm_89"]
GETRF = Problem("getrf", "float32", 64, 64, 100)
SLM = "blocked/leaf=slm"


@pytest.fixture
def in_force(register: Register) -> list[tuple[str, str]]:
    """Ops that ran, each with the leaf that it saw; getrf blocked is made of trsm."""
    seen: list[tuple[str, str]] = []

    def note(call: Call) -> None:
        seen.append((call.problem.op, config.current().getrf_leaf))

    def compose(call: Call) -> None:
        note(call)
        call.run(call.problem.child("trsm"), {})

    register(
        family("getrf", "cta", launch=note),
        family("getrf", "blocked", launch=compose),
        family("getrf", "vendor/loop", launch=note),
        family("trsm", "cta", launch=note),
    )
    return seen


def test_parts_of_a_spelling() -> None:
    text = "blocked/leaf=slm/right_laswp=walk"
    variants = (("getrf_leaf", "slm"), ("getrf_right_laswp", "walk"))
    assert spelling("getrf", text, "here") == Spelling(text, "blocked", variants)
    assert spelling("getrs", "blocked/laswp=gather", "here").variants == (("getrs_laswp", "gather"),)


@pytest.mark.parametrize("op", ROUTES)
def test_every_family_is_a_spelling_without_variants(op: str) -> None:
    for name in (*ROUTES[op], config.AUTO):
        assert spelling(op, name, "here") == Spelling(name, name)


def test_every_variant_of_every_op_can_be_spelled() -> None:
    variants = [(key, one) for key, one in SETTINGS.items() if isinstance(one, Choice) and key not in ROUTES]
    assert variants
    for key, setting in variants:
        op, _, name = key.partition("_")
        for word in setting.words:
            assert spelling(op, f"blocked/{name}={word}", "here").variants == ((key, word),)


@pytest.mark.parametrize(
    ("op", "text", "message"),
    [
        (
            "getrf",
            "blocked/leaf=sml",
            "here: 'blocked/leaf=sml': leaf: got 'sml', accepted are auto, reg, slm",
        ),
        (
            "getrf",
            "blocked/leef=slm",
            "here: got 'blocked/leef=slm', accepted variants of getrf are leaf, laswp, right_laswp",
        ),
        ("gesv", "blocked/leaf=slm", "here: got 'blocked/leaf=slm', accepted variants of gesv are none"),
        ("getrf", "blocked/leaf", "here: 'blocked/leaf': leaf: got '', accepted are auto, reg, slm"),
        (
            "getrf",
            "blocked/",
            "here: got 'blocked/', accepted variants of getrf are leaf, laswp, right_laswp",
        ),
        (
            "getrf",
            "blocked/leaf=slm/leaf=reg",
            "here: got 'blocked/leaf=slm/leaf=reg' for getrf, accepted is each variant once",
        ),
        *(
            (
                "getrf",
                text,
                f"here: got '{text}' for getrf, accepted are auto, tiny, cta, blocked, vendor, vendor/loop",
            )
            for text in (
                "cta/leaf=slm",
                "auto/leaf=slm",
                "vendor/leaf=slm",
                "vendor/loop/leaf=slm",
                "/leaf=slm",
            )
        ),
        ("gemm", "blocked/leaf=slm", "here: got 'blocked/leaf=slm' for gemm, accepted are auto, vendor, cta"),
    ],
)
def test_what_spells_no_route(op: str, text: str, message: str) -> None:
    with pytest.raises(PinError) as caught:
        spelling(op, text, "here")
    assert str(caught.value).startswith(message)


def test_variants_are_in_force_for_the_call_and_what_it_is_made_of(in_force: list[tuple[str, str]]) -> None:
    with trace() as routes:
        chosen = run(GETRF, {}, SM_89, 0, SLM)
    assert in_force == [("getrf", "slm"), ("trsm", "slm")]
    assert (chosen.route, chosen.family.name, chosen.source) == (SLM, "blocked", "argument route")
    assert [record.route for record in routes] == [SLM, "cta"]
    assert config.current().getrf_leaf == config.AUTO


def test_variants_end_with_an_exception(register: Register) -> None:
    def fail(call: Call) -> None:
        raise KeyError

    register(family("getrf", "blocked", launch=fail))
    with pytest.raises(KeyError):
        run(GETRF, {}, SM_89, 0, SLM)
    assert config.current().getrf_leaf == config.AUTO


def test_pinned_and_environment_take_spellings(
    in_force: list[tuple[str, str]], environment: Environment
) -> None:
    environment(BATCHLAS_GETRF_ROUTE="blocked/leaf=reg")
    assert run(GETRF, {}, SM_89, 0).route == "blocked/leaf=reg"
    with config.pinned(getrf=SLM):
        assert run(GETRF, {}, SM_89, 0).source == "pinned(getrf=)"
        run(GETRF, {}, SM_89, 0, "cta")
    assert in_force == [
        ("getrf", "reg"),
        ("trsm", "reg"),
        ("getrf", "slm"),
        ("trsm", "slm"),
        ("getrf", "auto"),
    ]


def test_a_spelled_variant_wins_over_its_setting(in_force: list[tuple[str, str]]) -> None:
    with config.pinned(getrf_leaf="reg"):
        run(GETRF, {}, SM_89, 0, SLM)
        run(GETRF, {}, SM_89, 0, "blocked")
        run(GETRF, {}, SM_89, 0, "blocked/leaf=auto")
    assert [leaf for op, leaf in in_force if op == "getrf"] == ["slm", "reg", "auto"]


def test_the_loop_is_a_family_of_its_own(in_force: list[tuple[str, str]]) -> None:
    chosen = run(GETRF, {}, SM_89, 0, "vendor/loop")
    assert (chosen.route, chosen.family.name) == ("vendor/loop", "vendor/loop")


def test_repetitions_are_prepared_with_the_variants_in_force(register: Register) -> None:
    seen: list[str] = []

    def ready(call: Call) -> Enqueue:
        seen.append(config.current().getrf_leaf)
        return lambda stream, addresses: None

    one = family("getrf", "blocked")
    register(type(one)("getrf", "blocked", always, one.launch, ready))
    assert prepare(GETRF, {}, select(GETRF, SM_89, SLM)) is not None
    assert seen == ["slm"]


def test_explain_shows_the_spelling(in_force: list[tuple[str, str]]) -> None:
    why = explain("getrf", n=64, batch=100, dtype="float32", arch="sm_89", route=SLM)
    assert (why.route, why.rule) == (SLM, SLM)
    assert "blocked" in why.verdicts and SLM not in why.verdicts
    wrong = explain("getrf", n=64, batch=100, dtype="float32", arch="sm_89", route="blocked/leaf=x")
    assert wrong.route is None
    assert wrong.error.startswith("argument route: 'blocked/leaf=x': leaf: got 'x'")


def test_explain_takes_what_products_and_solves_have(in_force: list[tuple[str, str]]) -> None:
    why = explain(
        "trsm", n=8, nrhs=3, batch=10, dtype="float64", side="R", uplo="U", diag="U", trans="T", k=2
    )
    assert why.problem == Problem(
        "trsm", "float64", 8, 8, 10, 3, uplo="U", trans="T", side="R", diag="U", k=2
    )


@pytest.mark.usefixtures("in_force")
def test_a_spelled_pin_that_cannot_run_names_itself(register: Register) -> None:
    register(family("getrf", "cta"))
    with pytest.raises(
        PinError, match=r"argument route: 'blocked/leaf=slm' cannot run .* not in this version"
    ):
        select(GETRF, SM_89, SLM)
