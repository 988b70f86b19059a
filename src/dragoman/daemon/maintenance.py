"""Periodic work: keep the journal within its age and size, and save the last use of each token."""

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
    """Apply the retention limits. A full disk is logged, and the work is retried."""
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
    """Search events of older versions for secrets; `dragoman doctor` shows the result."""
    try:
        done = await journal.scrub(Redactor(settings.redact, tuple(settings.redact_names)))
    except DragomanError as error:
        log.warning("the journal could not be searched for secrets of older versions: %s", error)
    else:
        log.info("searched for secrets of older versions: %d rows, %d files changed", done.changed, done.files)
        for name in done.unread:
            log.warning("a file of recorded output could not be searched for secrets: %s", name)


def _retention_policy(settings: Settings) -> Retention:
    """A quarter of the size is for events, the rest for the much larger output of terminals and programs."""
    room = settings.journal_max_size_mb * 1_000_000
    return Retention(
        age_s=settings.journal_max_age_days * _DAY_S,
        events_bytes=room // 4,
        segments_bytes=room - room // 4,
        segments_age_s=settings.terminal_max_age_days * _DAY_S,
    )
