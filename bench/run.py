"""Measure every claim: `python -m bench.run [NAME…] [--json FILE]`.

A claim that is not met is shown, not failed (the machine may be busy); a crash fails the run.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import traceback
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path

from bench.claims import Claim

HERE = Path(__file__).parent
ROW = "{:<58} {:>16} {:>20}  {}"


def benchmark_names() -> list[str]:
    return sorted(path.stem.removeprefix("bench_") for path in HERE.glob("bench_*.py"))


def measure(name: str) -> list[Claim]:
    run: Callable[[], list[Claim]] = importlib.import_module(f"bench.bench_{name}").run
    return run()


def measure_all(names: Iterable[str]) -> tuple[dict[str, list[Claim]], list[str]]:
    """The claims of each benchmark, and the names of those that crashed."""
    measured: dict[str, list[Claim]] = {}
    crashed: list[str] = []
    for name in names:
        try:
            measured[name] = measure(name)
        except Exception:  # noqa: BLE001 - one broken benchmark must not hide the others' numbers
            traceback.print_exc()
            crashed.append(name)
    return measured, crashed


def amount(value: float, unit: str) -> str:
    digits = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return f"{digits} {unit}"


def table(measured: dict[str, list[Claim]]) -> str:
    lines = [ROW.format("claim", "value", "goal", "met")]
    for name, claims in measured.items():
        for claim in claims:
            sign = "≥" if claim.better == "higher" else "≤"
            goal = f"{sign} {amount(claim.goal, claim.unit)}"
            met = "yes" if claim.met else "NO"
            lines.append(ROW.format(f"{name}: {claim.name}", amount(claim.value, claim.unit), goal, met))
    return "\n".join(lines)


def as_json(measured: dict[str, list[Claim]]) -> str:
    rows = {name: [{**asdict(claim), "met": claim.met} for claim in claims] for name, claims in measured.items()}
    return json.dumps(rows, indent=2) + "\n"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.run", description="Measure the published claims.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of: {', '.join(benchmark_names())}")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the numbers to this file")
    chosen = parser.parse_args(arguments)
    unknown = sorted(set(chosen.names) - set(benchmark_names()))
    if unknown:
        parser.error(f"no such benchmark: {', '.join(unknown)}; there are: {', '.join(benchmark_names())}")
    measured, crashed = measure_all(chosen.names or benchmark_names())
    print(table(measured))
    if chosen.json:
        chosen.json.write_text(as_json(measured), encoding="utf-8")
    for name in crashed:
        print(f"{name}: crashed, see the traceback above")
    return 1 if crashed else 0


if __name__ == "__main__":
    sys.exit(main())
