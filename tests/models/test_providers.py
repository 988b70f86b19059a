"""Both providers against a server that speaks as they do: words, calls, refusals, silence, nonsense, cut streams."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from typing import Any

import anyio
import pytest

from dragoman.core.settings.schema import Settings
from dragoman.models.errors import ModelError
from dragoman.models.interface import (
    AssembledReply,
    Model,
    ModelFinished,
    ModelRequest,
    TextDelta,
    ToolCall,
    ToolOffer,
    Turn,
    Usage,
)
from dragoman.models.selection import select_model
from tests.daemons import PATIENCE
from tests.support.fake_model import Calls, Cuts, Ends, Fails, FakeModel, Refuses, Says, Sends, Step, Waits

pytestmark = pytest.mark.anyio
BOTH = pytest.mark.parametrize("provider", ["openai", "anthropic"])
QUESTION = ModelRequest(system="Be short.", turns=(Turn(role="user", text="why?"),))
KEY = "k-7f3a9b"


def model_at(fake: FakeModel, provider: Any, **settings: Any) -> Model:
    given = Settings(
        model=provider, model_name="small", model_address=fake.address, model_key_variable="OUR_KEY", **settings
    )
    model = select_model(given, {"OUR_KEY": KEY})
    assert model is not None
    return model


async def answer(model: Model, asked: ModelRequest = QUESTION) -> AssembledReply:
    whole = AssembledReply()
    with anyio.fail_after(10 * PATIENCE):
        async with contextlib.aclosing(model.stream(asked)) as deltas:
            async for delta in deltas:
                whole.add(delta)
    return whole


async def refusal(provider: str, *steps: Step, asked: ModelRequest = QUESTION) -> ModelError:
    async with FakeModel.running(steps) as fake:
        with pytest.raises(ModelError) as raised:
            await answer(model_at(fake, provider), asked)
    return raised.value


@BOTH
async def test_words_come_in_order_and_the_end_carries_the_tokens(provider: str) -> None:
    async with FakeModel.running([Says(["It ", "is ", "late — 晚了"]), Ends(input_tokens=31, output_tokens=5)]) as fake:
        whole = await answer(model_at(fake, provider))
    assert whole.text == "It is late — 晚了"
    assert whole.finished == ModelFinished("end", Usage(31, 5))


@BOTH
@pytest.mark.parametrize("reason", ["end", "length", "tool_calls", "refused"])
async def test_the_reason_of_the_end_is_reported(provider: str, reason: Any) -> None:
    async with FakeModel.running([Says(["x"]), Ends(reason)]) as fake:
        whole = await answer(model_at(fake, provider))
    assert whole.finished is not None
    assert whole.finished.reason == reason


@BOTH
async def test_calls_of_tools_are_put_together_from_their_parts(provider: str) -> None:
    steps: Sequence[Step] = [
        Says(["Looking."]),
        Calls("read", ['{"pa', 'th": "a.py"}'], id="c1"),
        Calls("list", [], id="c2"),
        Ends("tool_calls"),
    ]
    async with FakeModel.running(steps) as fake:
        whole = await answer(model_at(fake, provider))
    assert whole.text == "Looking."
    assert whole.calls == (
        ToolCall(id="c1", name="read", arguments='{"path": "a.py"}'),
        ToolCall(id="c2", name="list", arguments="{}"),
    )


CONVERSATION = ModelRequest(
    system="Be short.",
    turns=(
        Turn(role="user", text="what is in a.py?"),
        Turn(role="assistant", text="", calls=(ToolCall(id="c1", name="read", arguments='{"path":"a.py"}'),)),
        Turn(role="tool", text="print(1)", call_id="c1"),
    ),
    tools=(ToolOffer(name="read", description="Reads.", schema={"type": "object"}),),
    max_tokens=99,
)


async def test_a_conversation_with_tools_is_asked_as_openai_wants_it() -> None:
    async with FakeModel.running() as fake:
        await answer(model_at(fake, "openai"), CONVERSATION)
        (result,) = fake.requests
    assert result.path == "/chat/completions"
    assert result.headers["authorization"] == f"Bearer {KEY}"
    call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"path":"a.py"}'}}
    assert result.body == {
        "model": "small",
        "max_tokens": 99,
        "stream": True,
        "stream_options": {"include_usage": True},
        "messages": [
            {"role": "system", "content": "Be short."},
            {"role": "user", "content": "what is in a.py?"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "print(1)"},
        ],
        "tools": [
            {
                "type": "function",
                "function": {"name": "read", "description": "Reads.", "parameters": {"type": "object"}},
            }
        ],
    }


async def test_a_conversation_with_tools_is_asked_as_anthropic_wants_it() -> None:
    async with FakeModel.running() as fake:
        await answer(model_at(fake, "anthropic"), CONVERSATION)
        (result,) = fake.requests
    assert result.path == "/v1/messages"
    assert (result.headers["x-api-key"], result.headers["anthropic-version"]) == (KEY, "2023-06-01")
    assert result.body == {
        "model": "small",
        "max_tokens": 99,
        "stream": True,
        "system": "Be short.",
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "what is in a.py?"}]},
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "c1", "name": "read", "input": {"path": "a.py"}}],
            },
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "print(1)"}]},
        ],
        "tools": [{"name": "read", "description": "Reads.", "input_schema": {"type": "object"}}],
    }


@BOTH
@pytest.mark.parametrize(
    ("status", "code"),
    [
        (401, "model_key_refused"),
        (403, "model_key_refused"),
        (404, "model_refused"),
        (400, "model_refused"),
        (429, "model_busy"),
        (500, "model_failed"),
        (529, "model_failed"),
        (302, "model_refused"),
    ],
)
async def test_a_refusal_is_recognised_by_its_status(provider: str, status: int, code: str) -> None:
    error = await refusal(provider, Refuses(status, "no such model: small", {"location": "http://127.0.0.1:1/"}))
    assert error.code == code
    assert "no such model" not in str(error)
    assert error.detail == ("no such model: small" if code == "model_refused" else "")


async def test_when_to_ask_again_is_reported_where_the_provider_says_it() -> None:
    error = await refusal("openai", Refuses(429, headers={"retry-after": "17"}))
    assert "17 s" in str(error)


_REASON = {
    "openai": b'data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]}\n\n',
    "anthropic": b'data: {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": {}}\n\n',
}


@BOTH
@pytest.mark.parametrize("steps", [[Says(["all"])], []])
@pytest.mark.parametrize("end", [[], [Cuts()]])
async def test_an_answer_that_gave_its_finish_reason_is_complete_without_its_last_line(
    provider: str, steps: Sequence[Step], end: Sequence[Step]
) -> None:
    async with FakeModel.running([*steps, Sends(_REASON[provider]), *end]) as fake:
        whole = await answer(model_at(fake, provider))
    assert whole.text == ("all" if steps else "")
    assert whole.finished is not None
    assert whole.finished.reason == "length"


@BOTH
@pytest.mark.parametrize(
    ("steps", "code"),
    [
        ([Says(["half"]), Cuts()], "model_cut"),
        ([Says(["half"])], "model_cut"),
        ([Cuts()], "model_cut"),
        ([], "model_nonsense"),
        ([Sends(b"<html>welcome</html>")], "model_nonsense"),
        ([Sends(b"data: {not json}\n\n")], "model_nonsense"),
        ([Sends(b'data: {"choices": 3, "type": 4}\n\n')], "model_nonsense"),
        ([Sends(b"data: \xff\xfe\n\n")], "model_nonsense"),
        ([Sends(b"data: " + b"[" * 100_000 + b"\n\n")], "model_nonsense"),
        ([Sends(b"data: " + b"x" * (2 << 20))], "model_nonsense"),
        ([Says(["half"]), Fails()], "model_failed"),
    ],
)
async def test_an_answer_that_breaks_is_an_error_and_never_a_short_answer(
    provider: str, steps: Sequence[Step], code: str
) -> None:
    assert (await refusal(provider, *steps)).code == code


@BOTH
async def test_a_silent_model_is_not_waited_for_longer_than_asked(provider: str) -> None:
    asked = ModelRequest(system="", turns=QUESTION.turns, silence_s=0.2)
    assert (await refusal(provider, Says(["I think"]), Waits(), asked=asked)).code == "model_silent"


@BOTH
async def test_who_stops_listening_closes_the_request(provider: str) -> None:
    async with FakeModel.running([Says(["first"]), Waits()]) as fake:
        with anyio.fail_after(10 * PATIENCE):
            async with contextlib.aclosing(model_at(fake, provider).stream(QUESTION)) as deltas:
                assert await anext(deltas) == TextDelta("first")
            await fake.requests[0].left.wait()


@BOTH
async def test_a_caller_that_is_cancelled_closes_the_request(provider: str) -> None:
    async with FakeModel.running([Says(["first"]), Waits()]) as fake, anyio.create_task_group() as group:
        group.start_soon(answer, model_at(fake, provider))
        with anyio.fail_after(10 * PATIENCE):
            await fake.asked.wait()
            group.cancel_scope.cancel()
            with anyio.CancelScope(shield=True):
                await fake.requests[0].left.wait()


async def test_an_address_where_nobody_listens_is_reported() -> None:
    async with FakeModel.running() as fake:
        model = model_at(fake, "openai")
    with pytest.raises(ModelError) as raised:
        await answer(model)
    assert raised.value.code == "model_unreachable"


@pytest.mark.parametrize(
    ("address", "is_allowed"),
    [
        ("http://models.example/v1", False),
        ("http://127.0.0.1.evil.example/v1", False),
        ("http://localhost.evil.example/v1", False),
        ("http://localhost@evil.example/v1", False),
        ("http://10.0.0.1/v1", False),
        ("http://0.0.0.0:1/v1", False),
        ("http://127.0.0.1:1/v1", True),
        ("http://[::1]:1/v1", True),
        ("http://localhost:1/v1", True),
    ],
)
async def test_plain_http_goes_to_this_machine_alone(address: str, is_allowed: bool) -> None:
    settings = Settings(model="openai", model_name="small", model_address=address, model_key_variable="K")
    model = select_model(settings, {"K": KEY})
    assert model is not None
    with pytest.raises(ModelError) as raised:
        await answer(model)
    assert (raised.value.code != "model_address_insecure") == is_allowed


async def test_a_model_of_this_machine_needs_no_key() -> None:
    async with FakeModel.running() as fake:
        settings = Settings(model="openai", model_name="small", model_address=fake.address)
        model = select_model(settings, {"OPENAI_API_KEY": KEY})
        assert model is not None
        assert (await answer(model)).text == "yes"
        assert "authorization" not in fake.requests[0].headers


async def test_a_model_elsewhere_without_a_key_is_not_asked() -> None:
    model = select_model(Settings(model="anthropic", model_name="small"), {})
    assert model is not None
    with pytest.raises(ModelError) as raised:
        await answer(model)
    assert raised.value.code == "model_key_missing"
    assert "ANTHROPIC_API_KEY" in str(raised.value)


async def test_a_model_without_a_name_says_so() -> None:
    async with FakeModel.running() as fake:
        model = select_model(Settings(model="openai", model_address=fake.address), {})
        assert model is not None
        with pytest.raises(ModelError) as raised:
            await answer(model)
    assert raised.value.code == "model_unnamed"


def test_no_model_is_the_default() -> None:
    assert select_model(Settings(), {"OPENAI_API_KEY": KEY}) is None


def printing(text: str) -> list[str]:
    return [sys.executable, "-c", text]


async def test_a_key_by_command_is_asked_for_once_and_again_after_a_refusal(tmp_path: Any) -> None:
    count = tmp_path / "count"
    command = printing(f"import pathlib; p = pathlib.Path({str(count)!r}); p.open('a').write('x'); print('k-1')")
    async with FakeModel.running([Says(["a"]), Ends()], [Refuses(401)], [Says(["b"]), Ends()]) as fake:
        model = model_at(fake, "openai", model_key_command=command)
        await answer(model)
        with pytest.raises(ModelError):
            await answer(model)
        assert count.read_text() == "x"
        await answer(model)
        assert [result.headers["authorization"] for result in fake.requests] == ["Bearer k-1"] * 3
    assert count.read_text() == "xx"


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (printing("raise SystemExit(3)"), "exit code 3"),
        (printing("pass"), "no key"),
        (printing("print('x' * 200_000)"), "too much"),
        (["/nonexistent/pass-manager"], "could not be started"),
        (["sh -c 'echo k'"], "could not be started"),
    ],
)
async def test_a_key_command_that_fails_is_reported_without_what_it_printed(command: list[str], why: str) -> None:
    async with FakeModel.running() as fake:
        with pytest.raises(ModelError) as raised:
            await answer(model_at(fake, "openai", model_key_command=command))
        assert not fake.requests
    assert raised.value.code == "model_key_missing"
    assert why in str(raised.value)


async def test_a_key_is_in_no_text_of_ours() -> None:
    async with FakeModel.running([Refuses(401, f"bad key {KEY}")]) as fake:
        model = model_at(fake, "openai", model_key_command=printing(f"print({KEY!r})"))
        with pytest.raises(ModelError) as raised:
            await answer(model)
    shown = f"{model!r} {raised.value!s} {raised.value!r} {raised.value.detail}"
    assert KEY not in shown
