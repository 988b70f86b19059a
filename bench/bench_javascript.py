"""The same scenario in JavaScript, beside js-debug as shipped."""

from __future__ import annotations

from functools import partial

from bench.bench_debug import measured, median, ratio
from bench.claims import Claim
from bench.raw_dap import js_debug, stock_node


def run() -> list[Claim]:
    adapter = js_debug()
    if adapter is None:
        print("js-debug is not here: JavaScript was not measured")
        return []
    ours, stock = measured("orders.js", partial(stock_node, adapter))
    return [
        Claim("step with snapshot, to stock js-debug", ratio(ours, stock, "step_s"), "x", 0.10, "lower"),
        Claim("first stop, to stock js-debug", ratio(ours, stock, "first_stop_s"), "x", 0.80, "lower"),
        Claim("step with snapshot", median(ours, "step_s") * 1000, "ms", 20, "lower"),
        Claim("stock js-debug: the same step", median(stock, "step_s") * 1000, "ms", 100, "higher"),
        Claim("text of the scenario", median(ours, "text_bytes"), "bytes", 4_000, "lower"),
        Claim("whole results of the scenario", median(ours, "whole_bytes"), "bytes", 30_000, "lower"),
    ]
