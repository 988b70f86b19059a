"""Periodic work: the journal is kept within its age and size, and the last use of each token is saved."""

from __future__ import annotations

import logging

import anyio
import anyio.to_thread

from dragoman.access.tokens import Tokens
from dragoman.core.errors import DragomanError
from dragoman.core.redaction import Redactor
from dragoman.core.settings.schema import Settings
from dragoman.journal import Journal, Retention

log = logging.getLogger(__name__)

_FIRST_DELAY_S = 60.0
_RETENTION_INTERVAL_S = 900.0
_TOKEN_USES_INTERVAL_S = 60.0
_DAY_S = 86_400.0


async def enforce_retention(journal: Journal, settings: Settings) -> None:
    """A full disk is not a reason to end: it is said, and tried again."""
    await anyio.sleep(_FIRST_DELAY_S)
    while True:
        try:
            await journal.retain(_retention_policy(settings))
        except DragomanError as error:
            log.warning("the journal could not be trimmed: %s", error)
        await anyio.sleep(_RETENTION_INTERVAL_S)


async def save_token_uses(tokens: Tokens) -> None:
    try:
        while True:
            await anyio.sleep(_TOKEN_USES_INTERVAL_S)
            await anyio.to_thread.run_sync(_save_uses, tokens)
    finally:
        _save_uses(tokens)


def _save_uses(tokens: Tokens) -> None:
    try:
        tokens.clients.save_uses()
    except (OSError, DragomanError) as error:
        log.warning("when tokens were used could not be written down: %s", error)


async def scrub_journal(journal: Journal, settings: Settings) -> None:
    """What older versions recorded, searched for secrets; `dragoman doctor` says what came of it."""
    try:
        done = await journal.scrub(Redactor(settings.redact, tuple(settings.redact_names)))
    except DragomanError as error:
        log.warning("the journal could not be searched for secrets of older versions: %s", error)
    else:
        log.info("searched for secrets of older versions: %d rows, %d files changed", done.changed, done.files)
        for name in done.unread:
            log.warning("a file of recorded output could not be searched for secrets: %s", name)


def _retention_policy(settings: Settings) -> Retention:
    """A quarter of the room for events, the rest for terminals' and programs' bytes, which are far more."""
    room = settings.journal_max_size_mb * 1_000_000
    return Retention(
        age_s=settings.journal_max_age_days * _DAY_S,
        events_bytes=room // 4,
        segments_bytes=room - room // 4,
        segments_age_s=settings.terminal_max_age_days * _DAY_S,
    )
