import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]
pytest_plugins = ["house"]


@pytest.fixture(scope="module")
def shelf():
    return {"apple": 5, "melon": 2}


@pytest.fixture(autouse=True)
def clean(monkeypatch):
    monkeypatch.setenv("SHOP", "test")
