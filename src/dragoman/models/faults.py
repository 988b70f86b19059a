"""Why a model gave no answer: a code, a sentence of ours, and apart from it what the provider said."""

from __future__ import annotations

import msgspec

from dragoman.errors import DragomanError
from dragoman.phrases import Phrase, say
from dragoman.visible import visible

_MAX_DETAIL = 300


class ModelError(DragomanError):
    """`detail` is the provider's own text: data, to be shown as such or not at all."""

    def __init__(self, code: str, message: Phrase, *, hint: Phrase, detail: str = "") -> None:
        super().__init__(code, message, hint=hint)
        self.detail = detail


def no_key(variable: str) -> ModelError:
    if variable:
        return ModelError(
            "model_key_missing",
            say("The model has no key: the variable {variable} is not set for the daemon.", variable=variable),
            hint=say("Set it and restart the daemon, or name a command that prints the key in `model_key_command`."),
        )
    return ModelError(
        "model_key_missing",
        say("The model has no key."),
        hint=say("Set `model_key_variable` or `model_key_command`."),
    )


def key_command_failed(reason: Phrase) -> ModelError:
    return ModelError(
        "model_key_missing",
        say("The command that should print the model's key failed: {reason}.", reason=reason),
        hint=say("Run the words of `model_key_command` in a shell to see why."),
    )


def insecure_address() -> ModelError:
    return ModelError(
        "model_address_insecure",
        say("The model's address is plain http to another machine: key and question could be read on the way."),
        hint=say("Use https in `model_address`, or a model on this machine."),
    )


def no_model_name() -> ModelError:
    return ModelError(
        "model_unnamed", say("No model is named."), hint=say("Set `model_name`, as the provider spells it.")
    )


def broke_off(reason: str) -> ModelError:
    return {
        "silent": ModelError(
            "model_silent",
            say("The model did not answer in time."),
            hint=say("Ask again, or try a faster one in `model_name`."),
        ),
        "unreachable": ModelError(
            "model_unreachable",
            say("The model's address cannot be reached."),
            hint=say("Check `model_address` and the network."),
        ),
    }.get(reason) or cut_off()


def cut_off() -> ModelError:
    return ModelError("model_cut", say("The model's answer broke off."), hint=say("Ask again."))


def nonsense() -> ModelError:
    return ModelError(
        "model_nonsense",
        say("The model's address answered with something that is no answer."),
        hint=say("Check that `model` and `model_address` belong together."),
    )


def refused(status: int, body: bytes, retry_after_s: float | None) -> ModelError:
    """By the status alone; a provider's text may repeat parts of a key, and shapes of keys are not shown."""
    detail = _detail(body)
    if status in {401, 403}:
        return ModelError(
            "model_key_refused",
            say("The model's provider refused the key ({status}).", status=status),
            hint=say("Check the key, and that it may use this model."),
        )
    if status == 429:
        return _too_many(retry_after_s)
    if status >= 500:
        return ModelError(
            "model_failed", say("The model's provider failed ({status}).", status=status), hint=say("Ask again later.")
        )
    return ModelError(
        "model_refused",
        say("The model's provider refused the question ({status}).", status=status),
        hint=say("Check `model_name` and `model_address`."),
        detail=detail,
    )


def _too_many(retry_after_s: float | None) -> ModelError:
    hint = say("Ask again later.")
    if retry_after_s is not None:
        hint = say("Ask again in {seconds} s.", seconds=round(retry_after_s))
    return ModelError("model_busy", say("The model's provider takes no more questions for now (429)."), hint=hint)


class _Said(msgspec.Struct):
    message: str = ""


class _Refusal(msgspec.Struct):
    """Both providers put it there."""

    error: _Said | str = ""


def _detail(body: bytes) -> str:
    try:
        said = msgspec.json.decode(body, type=_Refusal).error
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ""
    return visible(said if isinstance(said, str) else said.message).replace("\n", " ")[:_MAX_DETAIL]
