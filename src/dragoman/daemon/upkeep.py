"""Work that comes round: the journal is kept within its age and size."""

from __future__ import annotations

import logging

import anyio

from dragoman.errors import DragomanError
from dragoman.journal import Journal, Retention
from dragoman.setting_table import Settings

log = logging.getLogger(__name__)

_FIRST_AFTER_S = 60.0
_EVERY_S = 900.0
_DAY_S = 86_400.0


async def keep_within_bounds(journal: Journal, settings: Settings) -> None:
    """A full disk is not a reason to end: it is said, and tried again."""
    await anyio.sleep(_FIRST_AFTER_S)
    while True:
        try:
            await journal.retain(_policy(settings))
        except DragomanError as error:
            log.warning("the journal could not be trimmed: %s", error)
        await anyio.sleep(_EVERY_S)


def _policy(settings: Settings) -> Retention:
    """A quarter of the room for events, the rest for terminals' and programs' bytes, which are far more."""
    room = settings.journal_max_size_mb * 1_000_000
    return Retention(
        age_s=settings.journal_max_age_days * _DAY_S,
        events_bytes=room // 4,
        segments_bytes=room - room // 4,
        segments_age_s=settings.terminal_max_age_days * _DAY_S,
    )
