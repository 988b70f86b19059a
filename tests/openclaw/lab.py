"""A real OpenClaw gateway on loopback, in folders of its own, with a stub for its model."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import psutil
from anyio.from_thread import BlockingPortal, start_blocking_portal

from tests.daemons import eventually
from tests.support.fake_model import Calls, Ends, FakeModel, ReceivedRequest, Refuses, Says, Step, Waits

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import openclaw  # noqa: E402  a tool beside the package

TOKEN = "token-of-the-laboratory"
REPLY = ("Hello", ", this", " is the", " stub.")
_LISTENS_WITHIN_S = 120
_QUIET = (
    "OPENCLAW_SKIP_CHANNELS OPENCLAW_DISABLE_BONJOUR OPENCLAW_NO_AUTO_UPDATE OPENCLAW_NO_RESPAWN OPENCLAW_SKIP_CRON "
    "OPENCLAW_SKIP_BROWSER_CONTROL_SERVER"
)
_TOOL = re.compile(r"TOOL:(\{.*\})", re.DOTALL)


class Stub(FakeModel):
    """Steered by what stands in the prompt, wherever a gateway puts it: SLOW, FAIL, TOOL:{"name", "args"}."""

    def steps_for(self, result: ReceivedRequest) -> Sequence[Step]:
        prompts = [_text(it) for it in result.body["messages"] if it["role"] == "user"]
        prompt = next((it for it in reversed(prompts) if re.search("SLOW|FAIL|TOOL:|SAY", it)), "")
        if "FAIL" in prompt:
            return [Refuses(400, "the stub will not")]
        if "SLOW" in prompt:
            self.go_on = anyio.Event()
            return [Says(["Once upon "]), Waits(), Says(["a time."]), Ends()]
        call = _call(prompt, result.body["messages"])
        return [Says(["Let me look."]), call, Ends("tool_calls")] if call else [Says(REPLY), Ends()]


def _call(prompt: str, messages: list[dict[str, Any]]) -> Calls | None:
    """Once a prompt: a gateway may add messages of its own after a tool's result."""
    found = _TOOL.search(prompt)
    if found is None:
        return None
    wanted, _ = json.JSONDecoder().raw_decode(found[1])
    id = "call_" + hashlib.sha256(found[1].encode()).hexdigest()[:12]
    if any(it.get("role") == "tool" for it in messages[_place_of(prompt, messages) :]):
        return None
    return Calls(wanted["name"], [json.dumps(wanted["args"])], id)


def _place_of(prompt: str, messages: list[dict[str, Any]]) -> int:
    return max(number for number, it in enumerate(messages) if it["role"] == "user" and _text(it) == prompt)


def _text(message: dict[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


@dataclass
class Lab:
    version: str
    folder: Path
    port: int
    stub: Stub
    portal: BlockingPortal
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}"

    @property
    def protocol(self) -> int:
        return 3 if self.version == "2026.5.7" else 4

    def start(self) -> None:
        program = openclaw.PLACE / self.version / "node_modules" / "openclaw" / "openclaw.mjs"
        with (self.folder / "gateway.log").open("ab") as log:
            self.process = subprocess.Popen(
                [openclaw.node(), program, "gateway", "run"],
                cwd=self.folder,
                env=_environment(self.folder),
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        eventually(self._answers, within_s=_LISTENS_WITHIN_S, every_s=0.25)

    def kill(self) -> None:
        """At once, with whatever it started."""
        assert self.process is not None
        family = psutil.Process(self.process.pid).children(recursive=True)
        self.process.kill()
        self.process.wait(10)
        for child in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                child.kill()

    def freeze(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGCONT)

    def go_on(self) -> None:
        """What is SLOW says the rest."""
        self.portal.call(self._resume)

    def _resume(self) -> None:
        self.stub.go_on.set()

    def _answers(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, (self.folder / "gateway.log").read_text()[-3000:]
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
            return True
        return False


@contextlib.contextmanager
def lab(version: str, folder: Path) -> Iterator[Lab]:
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(Stub.running()) as stub:
        assert isinstance(stub, Stub)
        it = Lab(version, folder, _free_port(), stub, portal)
        _configure(it)
        it.start()
        try:
            yield it
        finally:
            it.kill()


def _configure(it: Lab) -> None:
    state = it.folder / ".openclaw"
    (it.folder / "workspace").mkdir(parents=True)
    state.mkdir()
    pricing = {"pricing": {"enabled": False}} if it.protocol == 3 else {}
    model = {"id": "stub", "name": "stub", "contextWindow": 200_000, "maxTokens": 4096}
    provider = {"baseUrl": f"{it.stub.address}/v1", "apiKey": "none", "api": "openai-completions", "models": [model]}
    auth = {"mode": "token", "token": TOKEN}
    config = {
        "gateway": {"mode": "local", "port": it.port, "bind": "loopback", "auth": auth},
        "update": {"checkOnStart": False},
        "models": {"mode": "replace", **pricing, "providers": {"stub": provider}},
        "agents": {"defaults": {"model": {"primary": "stub/stub"}, "workspace": str(it.folder / "workspace")}},
    }
    (state / "openclaw.json").write_text(json.dumps(config))


def _environment(folder: Path) -> dict[str, str]:
    state = folder / ".openclaw"
    own = {"HOME": str(folder), "OPENCLAW_STATE_DIR": str(state), "TMPDIR": str(folder), "NODE_NO_WARNINGS": "1"}
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("OPENCLAW", "DRAGOMAN", "npm_"))}
    return {**clean, **dict.fromkeys(_QUIET.split(), "1"), **own, "OPENCLAW_CONFIG_PATH": str(state / "openclaw.json")}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
