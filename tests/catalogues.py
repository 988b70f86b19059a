"""The gettext catalogues, as translators edit them."""

from __future__ import annotations

import functools
from pathlib import Path

from babel.messages.catalog import Catalog
from catalogue import catalogue_files as _catalogue_files
from catalogue import extracted as _extracted
from catalogue import read

ROOT = Path(__file__).parents[1]
ZH_CN = ROOT / "locale" / "zh_CN" / "LC_MESSAGES" / "dragoman.po"

catalogue = functools.cache(read)
extracted: functools._lru_cache_wrapper[Catalog] = functools.cache(_extracted)


def catalogue_files() -> list[Path]:
    return list(_catalogue_files())


def chinese_of(*sources: str) -> dict[str, str]:
    """English to Chinese; of the messages that stand in one of these files or folders, or of all."""
    return {
        str(entry.id): str(entry.string)
        for entry in catalogue(ZH_CN)
        if entry.id and any(name.startswith(sources or "") for name, _ in entry.locations)
    }


CHINESE = chinese_of()
