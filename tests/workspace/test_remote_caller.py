"""What a caller on another machine may say about itself."""

from __future__ import annotations

from dragoman.workspace.caller import RemoteCaller


def test_only_a_hello_that_the_pipe_marked_is_remote() -> None:
    assert RemoteCaller.of({"target": "ssh:build1"}) is None
    assert RemoteCaller.of({"target": "ssh:build1", "remote": "yes"}) is None
    assert RemoteCaller.of({"target": "ssh:build1", "remote": True}) == RemoteCaller("ssh:build1")


def test_a_target_of_another_type_is_left_out_and_control_characters_are_escaped() -> None:
    assert RemoteCaller.of({"remote": True, "target": ["ssh:build1"]}) == RemoteCaller("")
    hostile = RemoteCaller.of({"remote": True, "target": "ssh:\x1b[2J" + "x" * 1000})
    assert hostile is not None
    assert "\x1b" not in hostile.target
    assert len(hostile.target) <= 300
