"""Session keys: `acp:x` and `agent:main:acp:x` are the same session, and events use either."""

from __future__ import annotations

from dragoman.wire.gateway.messages import SessionDefaults

_DEFAULTS = SessionDefaults()
_WITHOUT_AGENT = frozenset({"", "global", "unknown"})


def canonical_session_key(key: str, defaults: SessionDefaults = _DEFAULTS) -> str:
    """The key as the gateway's events spell it: `agent:<agent>:<rest>`."""
    if key.startswith("agent:") or key in _WITHOUT_AGENT:
        return key
    if key == defaults.main_key:
        return defaults.main_session_key
    return f"agent:{defaults.default_agent_id}:{key}"


def short_session_key(key: str, defaults: SessionDefaults = _DEFAULTS) -> str:
    """The key as a client of the protocol document chose it, where that is still the same session: `acp:x`."""
    short = key.removeprefix(f"agent:{defaults.default_agent_id}:")
    return short if canonical_session_key(short, defaults) == key else key
