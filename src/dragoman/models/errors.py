"""Why a model gave no answer: a code, a sentence of ours, and separately the provider's own text."""

from __future__ import annotations

import msgspec

from dragoman.core.errors import DragomanError
from dragoman.core.localization import LocalizedText, localize
from dragoman.core.safe_text import printable

_MAX_DETAIL = 300


class ModelError(DragomanError):
    """`detail` is the provider's own text: data, to be shown as such or not at all."""

    def __init__(self, code: str, message: LocalizedText, *, hint: LocalizedText, detail: str = "") -> None:
        super().__init__(code, message, hint=hint)
        self.detail = detail


def no_key(variable: str) -> ModelError:
    if variable:
        return ModelError(
            "model_key_missing",
            localize("No model key: the environment variable {variable} is not set for the daemon.", variable=variable),
            hint=localize(
                "Set it and restart the daemon, or set `model_key_command` to a command that prints the key."
            ),
        )
    return ModelError(
        "model_key_missing",
        localize("No model key is set."),
        hint=localize("Set `model_key_variable` or `model_key_command`."),
    )


def key_command_failed(reason: LocalizedText) -> ModelError:
    return ModelError(
        "model_key_missing",
        localize("The command for the model's key failed: {reason}.", reason=reason),
        hint=localize("Run the command of `model_key_command` in a shell to see why."),
    )


def insecure_address() -> ModelError:
    return ModelError(
        "model_address_insecure",
        localize(
            "The model's address uses plain http to another machine: the key and the question could be intercepted."
        ),
        hint=localize("Use https in `model_address`, or a model on this machine."),
    )


def no_model_name() -> ModelError:
    return ModelError(
        "model_unnamed",
        localize("No model name is set."),
        hint=localize("Set `model_name` to the name that the provider uses."),
    )


def stream_broke_off(reason: str) -> ModelError:
    return {
        "silent": ModelError(
            "model_silent",
            localize("The model did not answer in time."),
            hint=localize("Try again, or set a faster model in `model_name`."),
        ),
        "unreachable": ModelError(
            "model_unreachable",
            localize("Cannot reach the model's address."),
            hint=localize("Check `model_address` and the network."),
        ),
    }.get(reason) or cut_off()


def cut_off() -> ModelError:
    return ModelError("model_cut", localize("The model's answer was cut off."), hint=localize("Try again."))


def invalid_response() -> ModelError:
    return ModelError(
        "model_nonsense",
        localize("The model's address returned an invalid response."),
        hint=localize("Check that `model` and `model_address` match."),
    )


def provider_refused(status: int, body: bytes, retry_after_s: float | None) -> ModelError:
    """Judge by the status alone.

    The provider's text may repeat parts of a key, so anything that looks like a key is not shown.
    """
    detail = _detail(body)
    if status in {401, 403}:
        return ModelError(
            "model_key_refused",
            localize("The model provider refused the key ({status}).", status=status),
            hint=localize("Check the key and whether it can use this model."),
        )
    if status == 429:
        return _too_many(retry_after_s)
    if status >= 500:
        return ModelError(
            "model_failed",
            localize("The model provider failed ({status}).", status=status),
            hint=localize("Try again later."),
        )
    return ModelError(
        "model_refused",
        localize("The model provider refused the request ({status}).", status=status),
        hint=localize("Check `model_name` and `model_address`."),
        detail=detail,
    )


def _too_many(retry_after_s: float | None) -> ModelError:
    hint = localize("Try again later.")
    if retry_after_s is not None:
        hint = localize("Try again in {seconds} s.", seconds=round(retry_after_s))
    return ModelError("model_busy", localize("The model provider's rate limit is reached (429)."), hint=hint)


class _ErrorMessage(msgspec.Struct):
    message: str = ""


class _ErrorBody(msgspec.Struct):
    """The error body, which is the same for both providers."""

    error: _ErrorMessage | str = ""


def _detail(body: bytes) -> str:
    try:
        error = msgspec.json.decode(body, type=_ErrorBody).error
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ""
    return printable(error if isinstance(error, str) else error.message).replace("\n", " ")[:_MAX_DETAIL]
