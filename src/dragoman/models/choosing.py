"""Which model answers, by the settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dragoman.models import anthropic, openai
from dragoman.models.asking import Dialect, HttpModel
from dragoman.models.key import Key
from dragoman.models.port import Model
from dragoman.setting_table import Settings
from dragoman.transport.http_stream import is_loopback

_PROVIDERS: Mapping[str, tuple[str, str, Callable[[str], Dialect]]] = {
    "openai": (openai.ADDRESS, openai.KEY_VARIABLE, openai.dialect),
    "anthropic": (anthropic.ADDRESS, anthropic.KEY_VARIABLE, lambda _: anthropic.dialect()),
}


def chosen_model(settings: Settings, environment: Mapping[str, str]) -> Model | None:
    """None where none is wanted; one that cannot work says why when it is asked."""
    if settings.model not in _PROVIDERS:
        return None
    own_address, usual_variable, dialect = _PROVIDERS[settings.model]
    address = settings.model_address or own_address
    # The usual variable holds a key for the provider itself: it is not sent to anybody else.
    variable = settings.model_key_variable or (usual_variable if address == own_address else "")
    key = Key(variable, tuple(settings.model_key_command), environment, needed=not is_loopback(address))
    return HttpModel(settings.model_name, address, key, dialect(address), settings.trusted_servers)
