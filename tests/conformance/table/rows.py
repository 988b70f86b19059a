"""The rows of the table: what is proven, and on what."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tests.conformance.table.stage import Stage, Stop

_Alone = Callable[[Stage], Awaitable[None]]
_There = Callable[[Stage, Stop], Awaitable[None]]


@dataclass(frozen=True)
class Behaviour:
    title: str
    prove: _Alone


BEHAVIOURS: dict[str, Behaviour] = {}


def _add(title: str, prove: _Alone) -> None:
    assert title not in BEHAVIOURS
    BEHAVIOURS[title] = Behaviour(title, prove)


def behaviour(title: str) -> Callable[[_Alone], _Alone]:
    """Proven with sessions of its own, which are gone afterwards."""

    def add(prove: _Alone) -> _Alone:
        async def alone(stage: Stage) -> None:
            await stage.leave()
            await prove(stage)
            await stage.leave()

        _add(title, alone)
        return prove

    return add


def on_run(title: str) -> Callable[[_Alone], _Alone]:
    """Proven on the end of a run that proves others too."""

    def add(prove: _Alone) -> _Alone:
        _add(title, prove)
        return prove

    return add


def at(mode: str, mark: str, title: str) -> Callable[[_There], _There]:
    """Proven in a session that others use before and after: it stands at the mark, and there are no breakpoints."""

    def add(prove: _There) -> _There:
        async def there(stage: Stage) -> None:
            try:
                await prove(stage, await stage.at(mode, mark))
            except BaseException:
                stage.mode = ""  # in a state that nobody knows: the next has a new one
                raise

        _add(title, there)
        return prove

    return add


def walking(title: str) -> Callable[[_There], _There]:
    return at("walk", "home", title)
