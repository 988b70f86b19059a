"""Every harness for a moment on every run; the driver itself for minutes at a time."""

from __future__ import annotations

from random import Random

import pytest

from tests.fuzz.driver import FuzzFailureError, Harness, harness_names, inputs, load, main, mutated, run

SECONDS_EACH = 0.5  # millions of inputs in `make soak`


@pytest.mark.parametrize("name", harness_names())
def test_damaged_inputs_raise_nothing_unexpected(name: str) -> None:
    assert run(load(name), seed=1, seconds=SECONDS_EACH) > 0


@pytest.mark.parametrize("name", harness_names())
def test_a_harness_has_seeds_to_damage(name: str) -> None:
    assert any(load(name).seeds)


def test_the_same_seed_gives_the_same_inputs() -> None:
    first, again = (list(zip(range(200), inputs([b"one", b"two"], seed=7), strict=False)) for _ in range(2))
    assert first == again


def test_mutation_reaches_inputs_that_are_not_seeds() -> None:
    dice = Random(3)
    made = {mutated([b"hello, world"], dice) for _ in range(200)}
    assert len(made) > 100


def test_a_failure_names_the_seed_the_round_and_the_bytes() -> None:
    def fails_on_two(data: bytes) -> None:
        if data == b"two":
            raise KeyError("boom")

    with pytest.raises(FuzzFailureError) as caught:
        run(Harness("mine", fails_on_two, [b"one", b"two"]), seed=9, rounds=10)
    assert "KeyError" in str(caught.value)
    assert "--seed 9 --rounds 3 mine" in str(caught.value)
    assert b"two".hex() in str(caught.value)


def test_the_driver_runs_the_named_harness_from_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    name = harness_names()[0]
    assert main(["--rounds", "5", "--seed", "4", name]) == 0
    assert f"{name}: 5 inputs" in capsys.readouterr().out
