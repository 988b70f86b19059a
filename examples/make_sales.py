"""Writes what sales.py reads; the launch configuration `sales` runs it first, as its preLaunchTask."""

from __future__ import annotations

from pathlib import Path

folder = Path(__file__).parent / "build"
folder.mkdir(exist_ok=True)
(folder / "sales.csv").write_text("seller,amount\nada,10\ngrace,20\nalan,30")
print("3 rows written")
