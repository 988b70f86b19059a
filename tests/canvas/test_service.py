"""Surfaces are drawn whole or not at all, outlive the daemon, and deliver each action of a person once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from dragoman.canvas.action_queue import ACTIONS, KEPT_AT_MOST, KEPT_S
from dragoman.canvas.service import SURFACE_KEPT_S, SURFACES_AT_MOST, CanvasService
from dragoman.core.errors import DragomanError, disk_full
from dragoman.journal import EverythingScope, Journal, SessionScope
from dragoman.protocols.a2ui import A2uiError
from tests.canvas.canvas_fixture import studio
from tests.daemons import PATIENCE
from tests.support.clocks import VirtualClock

pytestmark = pytest.mark.anyio

WORK = "/project"


def surface(name: str, *components: dict[str, Any], data: Any = None) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [
        {"version": "v0.9", "createSurface": {"surfaceId": name, "catalogId": "dragoman:dev/1"}},
        {"version": "v0.9", "updateComponents": {"surfaceId": name, "components": list(components)}},
    ]
    if data is not None:
        messages.append({"version": "v0.9", "updateDataModel": {"surfaceId": name, "value": data}})
    return messages


BUTTON = {
    "id": "go",
    "component": "Button",
    "child": "word",
    "action": {"event": {"name": "chosen", "context": {"name": {"path": "/name"}}}},
}
WORD = {"id": "word", "component": "Text", "text": "Go"}
FIELD = {"id": "field", "component": "TextField", "label": "Name", "value": {"path": "/name"}}
ROOT = {"id": "root", "component": "Column", "children": ["field", "go"]}


async def drawn(canvas: CanvasService, drawer: str = "a") -> None:
    await canvas.draw(drawer, WORK, surface("s", ROOT, FIELD, BUTTON, WORD, data={"name": "Ada"}))


SEED = {
    "type": "createSurface",
    "surface": {"id": "s", "title": "Result"},
    "components": [{"id": "t", "type": "Text", "props": {"text": "done"}}],
}
TEXT_V08 = {"id": "t", "component": {"Text": {"text": {"literalString": "done"}}}}
V08 = [
    {"surfaceUpdate": {"surfaceId": "s", "components": [TEXT_V08]}},
    {"beginRendering": {"surfaceId": "s", "root": "t"}},
]
V09 = surface("s", {"id": "root", "component": "Text", "text": "done"})
V10 = [{**message, "version": "v1.0"} for message in V09]


@pytest.mark.parametrize("document", [SEED, V08, V09, V10], ids=["seed", "0.8", "0.9", "1.0"])
async def test_a_surface_is_drawn_in_every_dialect(tmp_path: Path, document: object) -> None:
    async with studio(tmp_path) as (canvas, _):
        (shown,) = await canvas.draw("a", WORK, document)
        texts = [it.properties["text"] for it in shown.surface.components.values() if it.type == "Text"]
        assert (texts, shown.version) == (["done"], 1)


async def test_surfaces_outlive_the_daemon_and_count_on(tmp_path: Path) -> None:
    async with studio(tmp_path) as (canvas, _):
        await drawn(canvas)
    async with studio(tmp_path) as (canvas, _):
        (kept,) = canvas.surfaces()
        assert kept.surface.data_model == {"name": "Ada"}
        change = {"version": "v0.9", "updateDataModel": {"surfaceId": "s", "path": "/name", "value": "Bob"}}
        (changed,) = await canvas.draw("a", WORK, change)
        assert (changed.version, changed.surface.data_model) == (kept.version + 1, {"name": "Bob"})


async def test_names_of_surfaces_are_each_drawers_own(tmp_path: Path) -> None:
    async with studio(tmp_path) as (canvas, _):
        await drawn(canvas, "a")
        await drawn(canvas, "b")
        await canvas.draw("b", WORK, {"version": "v0.9", "deleteSurface": {"surfaceId": "s"}})
        assert [(it.drawer, it.surface.id) for it in canvas.surfaces()] == [("a", "s")]


@pytest.mark.parametrize(
    ("component", "code", "pointer"),
    [
        (
            {"component": "Table", "columns": [{"name": "a"}], "rows": []},
            "invalid_message",
            "/1/updateComponents/components/0/columns/0/name",
        ),
        ({"component": "Chart", "kind": "pie", "series": []}, "invalid_message", None),
        ({"component": "Progress", "value": "half"}, "invalid_message", "/1/updateComponents/components/0/value"),
        ({"component": "Text", "txt": "a"}, "unknown_property", "/1/updateComponents/components/0/txt"),
    ],
    ids=lambda value: str(value)[:20],
)
async def test_what_cannot_be_drawn_is_refused_at_its_place_and_nothing_changes(
    tmp_path: Path, component: dict[str, Any], code: str, pointer: str | None
) -> None:
    async with studio(tmp_path) as (canvas, journal):
        before = journal.last_sequence
        with pytest.raises(A2uiError) as refused:
            await canvas.draw("a", WORK, surface("s", {"id": "root", **component}))
        assert refused.value.code == code
        assert pointer is None or refused.value.pointer == pointer
        assert canvas.surfaces() == ()
        assert journal.last_sequence == before


@pytest.mark.parametrize("strict", [True, False])
async def test_what_we_do_not_know_is_kept_as_it_is(tmp_path: Path, *, strict: bool) -> None:
    async with studio(tmp_path) as (canvas, _):
        (shown,) = await canvas.draw("a", WORK, surface("s", {"id": "root", "component": "Gauge"}), strict=strict)
        assert shown.surface.components["root"].type == "Gauge"


async def test_all_agents_together_draw_a_bounded_number(tmp_path: Path) -> None:
    text = {"id": "root", "component": "Text", "text": "x"}
    async with studio(tmp_path) as (canvas, _):
        for number in range(SURFACES_AT_MOST):
            await canvas.draw(f"agent{number // 50}", WORK, surface(f"s{number}", text))
        with pytest.raises(DragomanError) as refused:
            await canvas.draw("last", WORK, surface("s", text))
        assert refused.value.code == "too_many_surfaces"


async def test_what_earlier_agents_left_gives_way_after_a_day_the_oldest_first(tmp_path: Path) -> None:
    clock = VirtualClock()
    text = {"id": "root", "component": "Text", "text": "x"}
    async with studio(tmp_path, clock) as (canvas, journal):
        for number in range(SURFACES_AT_MOST):
            await canvas.draw(f"d{number // 50}", WORK, surface(f"s{number}", text))
            clock.advance(1)
        clock.advance(SURFACE_KEPT_S - SURFACES_AT_MOST + 2.5)
        await canvas.draw("new", WORK, [*surface("a", text), *surface("b", text)])
        assert len(canvas.surfaces()) == SURFACES_AT_MOST
        gone = [
            row.event.body for row in await journal.read(0, limit=500) if row.event.kind == "canvas.surface_removed"
        ]
        assert [(it["surface"], it["by"]) for it in gone] == [("s0", "dragoman"), ("s1", "dragoman")]
        with pytest.raises(DragomanError) as refused:
            await canvas.draw("new", WORK, [*surface("c", text), *surface("d", text)])
        assert refused.value.code == "too_many_surfaces"


async def test_an_action_carries_what_was_typed_and_is_reported_to_its_drawer_once(tmp_path: Path) -> None:
    async with studio(tmp_path) as (canvas, journal):
        await drawn(canvas)
        received: list[Any] = []

        async def listen() -> None:
            received.extend(await canvas.actions("a", within_s=5))

        async with anyio.create_task_group() as group:
            group.start_soon(listen)
            taken = await canvas.act("a", "s", "go", changes=[("/name", "Grace")], by="page")
        assert [(it.id, it.name, it.context) for it in received] == [(taken.id, "chosen", {"name": "Grace"})]
        assert await canvas.actions("a", within_s=0) == []
        assert canvas.surface("a", "s").surface.data_model == {"name": "Grace"}
        recorded = [row.event for row in await journal.read() if row.event.kind == "canvas.action_taken"]
        assert [(event.body["id"], event.body["by"]) for event in recorded] == [(taken.id, "page")]


async def test_one_of_two_listeners_gets_it(tmp_path: Path) -> None:
    async with studio(tmp_path) as (canvas, _):
        await drawn(canvas)
        received: list[list[Any]] = []

        async def listen() -> None:
            received.append(await canvas.actions("a", within_s=0.2))

        async with anyio.create_task_group() as group:
            group.start_soon(listen)
            group.start_soon(listen)
            await canvas.act("a", "s", "go", by="page")
        assert sorted(map(len, received)) == [0, 1]


async def test_an_action_waits_an_hour_for_a_drawer_that_does_not_listen(tmp_path: Path) -> None:
    clock = VirtualClock()
    async with studio(tmp_path, clock) as (canvas, _):
        await drawn(canvas)
        await canvas.act("a", "s", "go", by="page")
        clock.advance(KEPT_S - 1)
        await canvas.act("a", "s", "go", by="page")
        clock.advance(2)
        assert len(await canvas.actions("a", within_s=0)) == 1


async def test_what_could_not_be_passed_on_is_the_next_again_and_no_younger(tmp_path: Path) -> None:
    clock = VirtualClock()
    async with studio(tmp_path, clock) as (canvas, _):
        await drawn(canvas)
        first = await canvas.act("a", "s", "go", by="page")
        second = await canvas.act("a", "s", "go", by="page")
        assert await canvas.actions("a", most=1, within_s=0) == [first]
        await canvas.put_back(first)
        assert await canvas.actions("a", within_s=0) == [first, second]
        clock.advance(KEPT_S + 1)
        await canvas.put_back(first)
        assert await canvas.actions("a", within_s=0) == []


async def test_undelivered_actions_outlive_the_daemon_and_delivered_ones_are_delivered_once(tmp_path: Path) -> None:
    clock = VirtualClock()
    async with studio(tmp_path, clock) as (canvas, _):
        for drawer in ("a", "b", "gone"):
            await drawn(canvas, drawer)
        done = []
        for _ in range(4):
            clock.advance(0.001)
            done.append(await canvas.act("a", "s", "go", by="page"))
        assert await canvas.actions("a", most=2, within_s=0) == done[:2]
        await canvas.put_back(done[1])
        await canvas.act("gone", "s", "go", by="page")
        await canvas.remove("gone", "s", by="page")
        clock.advance(KEPT_S - 2)
        late = await canvas.act("b", "s", "go", by="page")
    async with studio(tmp_path, clock) as (canvas, _):
        assert await canvas.actions("gone", within_s=0) == []
        assert await canvas.actions("a", within_s=0) == done[1:]
        clock.advance(2)
        assert await canvas.actions("b", within_s=0) == [late]
    async with studio(tmp_path, clock) as (canvas, _):
        assert [await canvas.actions(drawer, within_s=0) for drawer in ("a", "b")] == [[], []]


async def kept_in(journal: Journal) -> list[str]:
    return list(ACTIONS.decoded((await journal.query(ACTIONS.everything())).rows))


async def test_what_is_older_than_an_hour_is_gone_from_the_store_too(tmp_path: Path) -> None:
    clock = VirtualClock()
    async with studio(tmp_path, clock) as (canvas, journal):
        await drawn(canvas)
        await canvas.act("a", "s", "go", by="page")
        clock.advance(KEPT_S + 1)
        assert await canvas.actions("a", within_s=0) == []
        last = await canvas.act("a", "s", "go", by="page")
        assert await kept_in(journal) == [last.id]
        clock.advance(KEPT_S + 1)
    async with studio(tmp_path, clock) as (_, journal):
        assert await kept_in(journal) == []


async def test_a_full_disk_ends_nobody_who_is_notified_or_restores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*_: Any, **__: Any) -> None:
        raise disk_full()

    async with studio(tmp_path) as (canvas, journal):
        await drawn(canvas)
        taken = await canvas.act("a", "s", "go", by="page")
        monkeypatch.setattr(journal, "append", full)
        for _ in range(2):
            assert await canvas.actions("a", within_s=0) == [taken]
            await canvas.put_back(taken)


async def test_a_reader_that_is_cut_off_leaves_the_event_for_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with studio(tmp_path) as (canvas, journal):
        await drawn(canvas)
        taken = await canvas.act("a", "s", "go", by="page")
        with monkeypatch.context() as patch, anyio.CancelScope() as scope:

            async def stalled(*_: Any, **__: Any) -> None:
                scope.cancel()
                await anyio.sleep_forever()

            patch.setattr(journal, "append", stalled)
            await canvas.actions("a", within_s=0)
        assert scope.cancelled_caught
        assert await canvas.actions("a", within_s=0) == [taken]


async def test_what_was_put_back_keeps_nothing_older_alive(tmp_path: Path) -> None:
    clock = VirtualClock()
    async with studio(tmp_path, clock) as (canvas, _):
        for drawer in ("a", "b"):
            await drawn(canvas, drawer)
        await canvas.act("a", "s", "go", by="page")
        clock.advance(KEPT_S - 1)
        later = await canvas.act("b", "s", "go", by="page")
        assert await canvas.actions("b", within_s=0) == [later]
        await canvas.put_back(later)
        clock.advance(2)
        assert await canvas.actions("a", within_s=0) == []
        assert await canvas.actions("b", within_s=0) == [later]


async def test_questions_of_an_earlier_life_are_taken_away_and_those_of_this_one_stay(tmp_path: Path) -> None:
    async with studio(tmp_path) as (canvas, _):
        await canvas.draw("a", "", surface("shown", {"id": "root", "component": "Text", "text": "x"}))
        await canvas.draw("a", "", surface("asked", {"id": "root", "component": "Text", "text": "x"}), asking="open")
        await canvas.load()
        assert {it.surface.id for it in canvas.surfaces()} == {"shown", "asked"}
    async with studio(tmp_path) as (canvas, journal):
        assert {it.surface.id for it in canvas.surfaces()} == {"shown"}
        entries = [row.event.body for row in await journal.read(0) if row.event.kind == "canvas.surface_removed"]
        assert entries == [{"drawer": "a", "surface": "asked", "by": "dragoman"}]


async def test_that_surfaces_were_forgotten_is_reported_without_their_names(tmp_path: Path) -> None:
    async with studio(tmp_path) as (canvas, journal):
        await drawn(canvas)
        await journal.forget(EverythingScope())
        await canvas.load()
        await canvas.load()
        assert [(row.event.kind, row.event.body) for row in await journal.read(0)] == [
            ("canvas.surfaces_forgotten", {"count": 1})
        ]


async def test_what_could_not_be_passed_on_goes_with_its_surface(tmp_path: Path) -> None:
    async with studio(tmp_path) as (canvas, _):
        await drawn(canvas)
        await canvas.act("a", "s", "go", by="page")
        (taken,) = await canvas.actions("a", within_s=0)
        await canvas.remove("a", "s", by="page")
        await canvas.put_back(taken)
        assert await canvas.actions("a", within_s=0) == []


async def test_an_action_that_is_too_old_does_not_end_a_wait(tmp_path: Path) -> None:
    clock = VirtualClock()
    async with studio(tmp_path, clock) as (canvas, _), anyio.create_task_group() as group:
        await drawn(canvas)
        await canvas.act("a", "s", "go", by="page")
        clock.advance(KEPT_S + 1)
        received: list[Any] = []

        async def wait() -> None:
            received.extend(await canvas.actions("a", within_s=10 * PATIENCE))

        group.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        fresh = await canvas.act("a", "s", "go", by="page")
    assert received == [fresh]


async def test_kept_actions_are_bounded_and_the_oldest_go(tmp_path: Path) -> None:
    async with studio(tmp_path) as (canvas, _):
        await drawn(canvas)
        first = await canvas.act("a", "s", "go", by="page")
        for _ in range(KEPT_AT_MOST):
            await canvas.act("a", "s", "go", by="page")
        ids = [it.id for it in await canvas.actions("a", most=KEPT_AT_MOST + 1, within_s=0)]
        assert len(ids) == KEPT_AT_MOST
        assert first.id not in ids


async def test_an_agent_gets_actions_of_its_own_surfaces_and_others_by_name(tmp_path: Path) -> None:
    async with studio(tmp_path) as (canvas, _):
        await drawn(canvas)
        await canvas.act("a", "s", "go", by="page")
        assert await canvas.actions("b", within_s=0) == []
        assert await canvas.actions("b", surface_id="s", workspace="/elsewhere", within_s=0) == []
        assert len(await canvas.actions("b", surface_id="s", workspace=WORK, within_s=0)) == 1


@pytest.mark.parametrize(
    ("kind", "properties", "details", "event", "context"),
    [
        ("FileTree", {"items": ["a.py"]}, {"path": "a.py", "more": 1}, "onSelect", {"path": "a.py"}),
        ("Confirm", {"message": "Sure?"}, {"confirmed": True}, "onConfirm", {"componentId": "root", "confirmed": True}),
        ("Form", {"fields": [{"name": "n"}]}, {"values": {"n": "1"}}, "onSubmit", {"values": {"n": "1"}}),
    ],
)
async def test_our_components_report_what_was_chosen_under_the_names_of_the_document(
    tmp_path: Path, kind: str, properties: dict[str, Any], details: dict[str, Any], event: str, context: dict[str, Any]
) -> None:
    async with studio(tmp_path) as (canvas, _):
        await canvas.draw("a", WORK, surface("s", {"id": "root", "component": kind, **properties}))
        taken = await canvas.act("a", "s", "root", details=details, by="page")
        assert (taken.name, taken.context) == (event, context)


async def test_what_a_page_may_say_is_bounded_and_of_things_that_are_there(tmp_path: Path) -> None:
    async with studio(tmp_path) as (canvas, _):
        await canvas.draw("a", WORK, surface("s", {"id": "root", "component": "FileTree", "items": []}))
        for wrong, code in [
            ({"component_id": "root", "details": {"path": "x" * 70_000}}, "too_much_entered"),
            ({"component_id": "root", "changes": [("/a", 1)] * 201}, "too_much_entered"),
            ({"component_id": "nobody"}, "unknown_component"),
        ]:
            with pytest.raises(DragomanError) as refused:
                await canvas.act("a", "s", **wrong, by="page")  # type: ignore[arg-type]
            assert refused.value.code == code
        assert await canvas.actions("a", within_s=0) == []


async def test_a_large_change_is_in_the_record_as_a_change_alone(tmp_path: Path) -> None:
    async with studio(tmp_path) as (canvas, journal):
        await canvas.draw("a", WORK, surface("s", {"id": "root", "component": "Markdown", "text": "x" * 100_000}))
        (event,) = [row.event for row in await journal.read() if row.event.kind == "canvas.surface_updated"]
        assert (event.body["messages"], event.body["versions"]) == (None, {"s": 1})


async def test_a_person_may_close_a_surface(tmp_path: Path) -> None:
    async with studio(tmp_path) as (canvas, _):
        await drawn(canvas)
        await canvas.remove("a", "s", by="page")
        assert canvas.surfaces() == ()
        with pytest.raises(DragomanError) as refused:
            await canvas.remove("a", "s", by="page")
        assert refused.value.code == "unknown_surface"
    async with studio(tmp_path) as (canvas, _):
        assert canvas.surfaces() == ()


async def test_what_was_forgotten_is_no_longer_shown_nor_reported(tmp_path: Path) -> None:
    async with studio(tmp_path) as (canvas, journal):
        await drawn(canvas, "a")
        await drawn(canvas, "b")
        for drawer in ("a", "b"):
            await canvas.act(drawer, "s", "go", by="page")
        await journal.forget(SessionScope("a"))
        await canvas.load()
        assert [it.drawer for it in canvas.surfaces()] == ["b"]
        assert [len(await canvas.actions(drawer, within_s=0)) for drawer in ("a", "b")] == [0, 1]


async def test_a_secret_reaches_its_agent_and_no_record(tmp_path: Path) -> None:
    fields = [{"name": "pin", "kind": "secret"}, {"name": "who"}]
    async with studio(tmp_path) as (canvas, journal):
        await canvas.draw("a", WORK, surface("s", {"id": "root", "component": "Form", "fields": fields}))
        await canvas.act("a", "s", "root", details={"values": {"pin": "hunter2!", "who": "Ada"}}, by="page")
        (taken,) = await canvas.actions("a", within_s=1)
        await canvas.put_back(taken)
        assert taken.context["values"] == {"pin": "hunter2!", "who": "Ada"}
        (entries,) = [row.event for row in await journal.read(0, limit=50) if row.event.kind == "canvas.action_taken"]
        assert entries.body["context"]["values"] == {"pin": "••••", "who": "Ada"}
    written = anyio.Path(tmp_path).rglob("*")
    assert not [path async for path in written if await path.is_file() and b"hunter2!" in await path.read_bytes()]


SECRET = {"component": "TextField", "label": "Pin", "variant": "obscured"}


@pytest.mark.parametrize(
    ("children", "place", "context"),
    [
        (["pin", "go"], "/pin", {"pin": {"path": "/pin"}, "who": {"path": "/who"}}),
        (["each", "go"], "/all/0/pin", {"everything": {"path": "/"}}),
    ],
)
async def test_what_is_typed_into_an_obscured_field_is_kept_while_the_daemon_runs_and_in_no_file(
    tmp_path: Path, children: list[str], place: str, context: dict[str, Any]
) -> None:
    components: list[dict[str, Any]] = [
        {"id": "root", "component": "Column", "children": children},
        {"id": "pin", **SECRET, "value": {"path": "/pin"}},
        {"id": "each", "component": "List", "children": {"componentId": "inner", "path": "/all"}},
        {"id": "inner", **SECRET, "value": {"path": "pin"}},
        {"id": "go", "component": "Button", "child": "word", "action": {"event": {"name": "go", "context": context}}},
        WORD,
    ]
    async with studio(tmp_path) as (canvas, _):
        await canvas.draw("a", WORK, surface("s", *components, data={"who": "Ada", "pin": "", "all": [{"pin": ""}]}))
        await canvas.act("a", "s", "go", changes=[(place, "hunter2!")], by="page")
        await canvas.act("a", "s", "go", by="page")
        first, second = await canvas.actions("a", within_s=1)
        assert "hunter2!" in str(first.context)
        assert second.context == first.context
        again = {"surfaceId": "s", "root": "root", "styles": {"title": "New"}}
        await canvas.draw("a", WORK, [{"beginRendering": again}])
    written = anyio.Path(tmp_path).rglob("*")
    assert not [path async for path in written if await path.is_file() and b"hunter2!" in await path.read_bytes()]
    async with studio(tmp_path) as (canvas, _):
        assert canvas.surface("a", "s").surface.title == "New"
