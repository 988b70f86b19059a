"""Why a shared session is refused. People read these reasons, so they are localized."""

from __future__ import annotations

from dragoman.core.errors import DragomanError, ErrorSpec, quoted

FORMAT_VERSION = 1


class ShareError(DragomanError):
    """The file is refused as a whole: nothing of it is shown, kept or run."""


class ShareErrorSpec(ErrorSpec):
    error_type = ShareError


not_a_share = ShareErrorSpec("not_a_share", "This is not a shared session.", "`dragoman share` writes such files.")
damaged = ShareErrorSpec(
    "share_damaged", "The shared session is damaged: {reason}.", "The file was not used. Ask for the file again."
)
forged = ShareErrorSpec(
    "share_forged",
    "The signature of the shared session is not valid: {reason}.",
    "The file was not used. Ask for the file again.",
)
oversized = ShareErrorSpec(
    "share_too_large",
    "The shared session is too large: {reason}.",
    "The file was not used.",
)
unexpected_part = ShareErrorSpec(
    "share_damaged",
    "The shared session is damaged: unexpected part {name}.",
    "The file was not used. Ask for the file again.",
    name=quoted(60),
)
future_version = ShareErrorSpec(
    "share_too_new",
    "The shared session has format {version}; this Dragoman reads format {known}.",
    "It was written by Dragoman {product}: install that version or a newer one.",
    product=quoted(20),
)
