"""Select the model that the settings name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dragoman.core.settings.schema import Settings
from dragoman.io.net.http_client import is_loopback
from dragoman.models import anthropic, openai
from dragoman.models.http_model import ApiKey, HttpModel, ProviderDialect
from dragoman.models.interface import Model

_PROVIDERS: Mapping[str, tuple[str, str, Callable[[str], ProviderDialect]]] = {
    "openai": (openai.ADDRESS, openai.KEY_VARIABLE, openai.dialect),
    "anthropic": (anthropic.ADDRESS, anthropic.KEY_VARIABLE, lambda _: anthropic.dialect()),
}


def select_model(settings: Settings, environment: Mapping[str, str]) -> Model | None:
    """None if no model is configured. A model that cannot work reports why when it is used."""
    if settings.model not in _PROVIDERS:
        return None
    own_address, usual_variable, dialect = _PROVIDERS[settings.model]
    address = settings.model_address or own_address
    # The usual variable holds a key for the provider itself, so it is not sent to any other server.
    variable = settings.model_key_variable or (usual_variable if address == own_address else "")
    key = ApiKey(variable, tuple(settings.model_key_command), environment, needed=not is_loopback(address))
    return HttpModel(settings.model_name, address, key, dialect(address), settings.trusted_servers)
