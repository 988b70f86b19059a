"""The identity of this machine to gateways: one Ed25519 key, and the device tokens that gateways issued. All files
have mode 0600.
"""

from __future__ import annotations

import json
import secrets
from pathlib import Path

from dragoman.chat.errors import bad_key
from dragoman.core.errors import DragomanError
from dragoman.io.files.private_files import ensure_private_folder, read_private, replace_private
from dragoman.protocols.gateway import device_of

_SEED_BYTES = 32
_TOKENS_AT_MOST = 100


class DeviceIdentity:
    """The device's key.

    It is read when it is needed. A file of another owner is refused with the reason, never replaced.
    """

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
            raise bad_key(file=path)
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
        """A damaged list counts as empty: the gateway issues a new token on request."""
        try:
            found = json.loads(read_private(self._file))
        except (OSError, ValueError, DragomanError):
            return {}
        known = found.items() if isinstance(found, dict) else ()
        return {str(key): token for key, token in known if isinstance(token, str)}
