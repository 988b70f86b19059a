"""Who we are to gateways: one Ed25519 key for this machine, and the device tokens that gateways gave us. All 0600."""

from __future__ import annotations

import json
import secrets
from pathlib import Path

from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.transport.private_files import ensure_private_folder, read_private, replace_private
from dragoman.wire.gateway import device_of

_SEED_BYTES = 32
_TOKENS_AT_MOST = 100


class Identity:
    """Read when it is needed; a file that is not ours is refused with the reason, never replaced."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def seed(self) -> bytes:
        path = ensure_private_folder(self._folder) / "device.key"
        if not path.exists():
            replace_private(path, secrets.token_bytes(_SEED_BYTES).hex().encode())
        try:
            seed = bytes.fromhex(read_private(path).decode("ascii", errors="replace"))
        except ValueError:
            seed = b""
        if len(seed) != _SEED_BYTES:
            raise _bad_key(path)
        return seed

    def device_id(self) -> str:
        return device_of(self.seed())

    def token(self, url: str, role: str) -> str:
        return self._tokens().get(f"{role} {url}", "")

    def keep(self, url: str, role: str, token: str) -> None:
        others = {key: kept for key, kept in self._tokens().items() if key != f"{role} {url}"}
        newest = dict(list(others.items())[-_TOKENS_AT_MOST + 1 :])
        replace_private(self._file, json.dumps({**newest, f"{role} {url}": token}).encode())

    def drop(self, url: str, role: str) -> None:
        kept = {key: token for key, token in self._tokens().items() if key != f"{role} {url}"}
        replace_private(self._file, json.dumps(kept).encode())

    @property
    def _file(self) -> Path:
        return ensure_private_folder(self._folder) / "device-tokens.json"

    def _tokens(self) -> dict[str, str]:
        """A damaged list is an empty one: the gateway gives a new token for the asking."""
        try:
            found = json.loads(read_private(self._file))
        except (OSError, ValueError, DragomanError):
            return {}
        known = found.items() if isinstance(found, dict) else ()
        return {str(key): token for key, token in known if isinstance(token, str)}


def _bad_key(path: Path) -> DragomanError:
    return DragomanError(
        "bad_device_key",
        say("The key of this device is damaged: {file}.", file=path),
        hint=say("Remove that file; a new key is made, and gateways will ask for approval again."),
    )
