"""Why a model gave no answer: a code, a sentence of ours, and separately the provider's own text."""

from __future__ import annotations

import msgspec

from dragoman.core.errors import DragomanError, ErrorSpec
from dragoman.core.localization import LocalizedText, localize
from dragoman.core.safe_text import printable

_MAX_DETAIL = 300


class ModelError(DragomanError):
    """`detail` is the provider's own text: data, to be shown as such or not at all."""

    def __init__(self, code: str, message: LocalizedText, *, hint: LocalizedText, detail: str = "") -> None:
        super().__init__(code, message, hint=hint)
        self.detail = detail


class ModelErrorSpec(ErrorSpec):
    error_type = ModelError


key_variable_missing = ModelErrorSpec(
    "model_key_missing",
    "No model key: the environment variable {variable} is not set for the daemon.",
    "Set it and restart the daemon, or set `model_key_command` to a command that prints the key.",
)
no_key = ModelErrorSpec("model_key_missing", "No model key is set.", "Set `model_key_variable` or `model_key_command`.")
key_command_failed = ModelErrorSpec(
    "model_key_missing",
    "The command for the model's key failed: {reason}.",
    "Run the command of `model_key_command` in a shell to see why.",
)
insecure_address = ModelErrorSpec(
    "model_address_insecure",
    "The model's address uses plain http to another machine: the key and the question could be intercepted.",
    "Use https in `model_address`, or a model on this machine.",
)
no_model_name = ModelErrorSpec(
    "model_unnamed", "No model name is set.", "Set `model_name` to the name that the provider uses."
)
cut_off = ModelErrorSpec("model_cut", "The model's answer was cut off.", "Try again.")
silent = ModelErrorSpec(
    "model_silent", "The model did not answer in time.", "Try again, or set a faster model in `model_name`."
)
unreachable = ModelErrorSpec(
    "model_unreachable", "Cannot reach the model's address.", "Check `model_address` and the network."
)
invalid_response = ModelErrorSpec(
    "model_nonsense",
    "The model's address returned an invalid response.",
    "Check that `model` and `model_address` match.",
)
_key_refused = ModelErrorSpec(
    "model_key_refused",
    "The model provider refused the key ({status}).",
    "Check the key and whether it can use this model.",
)
_provider_failed = ModelErrorSpec("model_failed", "The model provider failed ({status}).", "Try again later.")
_request_refused = ModelErrorSpec(
    "model_refused",
    "The model provider refused the request ({status}).",
    "Check `model_name` and `model_address`.",
)


def stream_broke_off(reason: str) -> DragomanError:
    return {"silent": silent, "unreachable": unreachable}.get(reason, cut_off)()


def provider_refused(status: int, body: bytes, retry_after_s: float | None) -> DragomanError:
    """Judge by the status alone.

    The provider's text may repeat parts of a key, so anything that looks like a key is not shown.
    """
    if status in {401, 403}:
        return _key_refused(status=status)
    if status == 429:
        return _too_many(retry_after_s)
    if status >= 500:
        return _provider_failed(status=status)
    return _request_refused(status=status, details={"detail": _detail(body)})


def _too_many(retry_after_s: float | None) -> DragomanError:
    hint = localize("Try again later.")
    if retry_after_s is not None:
        hint = localize("Try again in {seconds} s.", seconds=round(retry_after_s))
    return ModelError("model_busy", localize("The model provider's rate limit is reached (429)."), hint=hint)


class _ProviderMessage(msgspec.Struct):
    message: str = ""


class _ProviderErrorBody(msgspec.Struct):
    """The error body, which is the same for both providers."""

    error: _ProviderMessage | str = ""


def _detail(body: bytes) -> str:
    try:
        error = msgspec.json.decode(body, type=_ProviderErrorBody).error
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ""
    return printable(error if isinstance(error, str) else error.message).replace("\n", " ")[:_MAX_DETAIL]
