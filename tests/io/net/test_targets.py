"""Targets become argument lists, and no name becomes an option."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from dragoman import __version__
from dragoman.core.errors import DragomanError
from dragoman.io.net.targets import PIPE_SCRIPT, Target, debug_container_command, find_target, require_variable_name

DECLARED = {"build1": ["ssh", "-J", "bastion", "build1", "dragoman", "pipe"]}
LOGIN_SHELL = f'exec "$SHELL" -l -c {shlex.quote("exec " + shlex.join(["sh", "-c", PIPE_SCRIPT]))}'


def found(name: str) -> Target:
    return find_target(name, lambda: DECLARED)


@pytest.mark.parametrize(
    ("name", "end"),
    [
        ("ssh:build1", ("--", "build1", LOGIN_SHELL)),
        ("ssh:ada@build1.example.org", ("--", "ada@build1.example.org", LOGIN_SHELL)),
        ("ssh:ada@[::1]", ("--", "ada@::1", LOGIN_SHELL)),
        ("ssh:[::1]", ("--", "::1", LOGIN_SHELL)),
        ("docker:web_1", ("docker", "exec", "-i", "--", "web_1", "sh", "-c", PIPE_SCRIPT)),
        ("podman:web.2", ("podman", "exec", "-i", "--", "web.2", "sh", "-c", PIPE_SCRIPT)),
        ("kubectl:api-0", ("kubectl", "exec", "-i", "--quiet", "api-0", "--", "sh", "-c", PIPE_SCRIPT)),
        (
            "kubectl:shop/api-0:web",
            (
                *("kubectl", "exec", "-i", "--quiet", "--namespace=shop", "--container=web"),
                *("api-0", "--", "sh", "-c", PIPE_SCRIPT),
            ),
        ),
        ("build1", ("ssh", "-J", "bastion", "build1", "dragoman", "pipe")),
    ],
)
def test_a_target_runs_the_command_of_its_kind(name: str, end: tuple[str, ...]) -> None:
    assert found(name).command[-len(end) :] == end


def test_ssh_never_asks_and_passes_on_neither_agent_nor_ports() -> None:
    command = found("ssh:build1").command
    for words in (["-T"], ["-a"], ["-x"], ["BatchMode=yes"], ["ClearAllForwardings=yes"]):
        assert set(words) <= set(command)
    assert command.index("--") > command.index("BatchMode=yes")


@pytest.mark.parametrize(
    "part",
    [
        *(
            "",
            "-oProxyCommand=touch${IFS}x",
            "-h",
            "a b",
            "a\tb",
            "a\nb",
            "a;b",
            "$(id)",
            "`id`",
            "a\0b",
            "a'b",
            "\x1b[31m",
        ),
        *("a@-b", "-a@b", "@b", "a@", "a@b@c", "../a", "a/b/c/d", "x" * 400, "é"),
    ],
)
@pytest.mark.parametrize("kind", ["ssh", "docker", "podman", "kubectl"])
def test_a_name_that_could_be_an_option_or_a_command_is_refused(kind: str, part: str) -> None:
    with pytest.raises(DragomanError) as caught:
        found(f"{kind}:{part}")
    assert caught.value.code == "bad_target"
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize(
    "name", ["kubectl:-n/pod", "kubectl:ns/-pod", "kubectl:ns/pod:-c", "kubectl:ns//pod", "kubectl:/pod"]
)
def test_no_part_of_a_pod_can_be_an_option(name: str) -> None:
    with pytest.raises(DragomanError):
        found(name)


@pytest.mark.parametrize(
    ("name", "code"),
    [("build2", "unknown_target"), ("-build1", "bad_target"), ("rsh:build1", "bad_target"), ("a b", "bad_target")],
)
def test_another_name_is_one_of_the_settings_or_an_error(name: str, code: str) -> None:
    with pytest.raises(DragomanError) as caught:
        found(name)
    assert caught.value.code == code


def test_ssh_sees_no_variable_that_its_configuration_could_send() -> None:
    environment = {"PATH": "/bin", "SSH_AUTH_SOCK": "/s", "LANG": "de", "LC_ALL": "C", "AWS_SECRET_ACCESS_KEY": "x"}
    assert found("ssh:build1").environment(environment) == {"PATH": "/bin", "SSH_AUTH_SOCK": "/s"}
    assert found("build1").environment(environment) == {"PATH": "/bin", "SSH_AUTH_SOCK": "/s"}, (
        "declared, and still ssh"
    )
    seen = found("docker:web").environment(environment)  # it sends none, and needs DOCKER_HOST; it fails in English
    assert environment.items() - seen.items() == {("LANG", "de"), ("LC_ALL", "C")}


def _as_sshd(target: Target, *words: str, shell: str, home: Path) -> subprocess.CompletedProcess[str]:
    """sshd gives the last word to the user's own shell."""
    command = target.run_command(*words)[-1] if words else target.command[-1]
    environment = {"HOME": str(home), "SHELL": shell, "PATH": os.environ["PATH"]}
    return subprocess.run([shell, "-c", command], env=environment, capture_output=True, text=True, check=False)


SHELLS = [it for name in ("sh", "bash", "dash", "zsh", "fish") if (it := shutil.which(name))]


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_there_passes_words_on_unchanged(shell: str, tmp_path: Path) -> None:
    words = ("a b", "it's", '"$HOME"', "$(id)", "`id`", "*", "")
    done = _as_sshd(found("ssh:build1"), "printf", "%s|", *words, shell=shell, home=tmp_path)
    assert done.stdout == "".join(f"{word}|" for word in words)


@pytest.mark.parametrize("shell", SHELLS)
def test_what_setup_made_for_our_version_comes_before_the_path(shell: str, tmp_path: Path) -> None:
    home = tmp_path / "a home"
    made = home / ".local/share/dragoman/remote" / __version__ / "bin" / "dragoman"
    made.parent.mkdir(parents=True)
    made.write_text('#!/bin/sh\necho "made for $1"\n')
    made.chmod(0o755)
    assert _as_sshd(found("ssh:build1"), shell=shell, home=home).stdout == "made for pipe\n"
    other = made.parents[1].with_name("0.0.1")
    made.parents[1].rename(other)
    assert "made for" not in _as_sshd(found("ssh:build1"), shell=shell, home=home).stdout


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("kubectl:api-0", "kubectl debug -it api-0 --image=python:3.12 --target=CONTAINER"),
        ("kubectl:shop/api-0:web", "kubectl debug -it --namespace=shop api-0 --image=python:3.12 --target=web"),
        ("docker:web", None),
        ("ssh:build1", None),
    ],
)
def test_a_pod_is_debugged_from_a_container_beside_it(name: str, command: str | None) -> None:
    assert debug_container_command(found(name)) == command


@pytest.mark.parametrize("name", ["", "1A", "A=B", "A B", "-A", "PATH\n", "a" * 300])
def test_only_a_name_names_a_variable(name: str) -> None:
    assert require_variable_name("MY_TOKEN") == "MY_TOKEN"
    with pytest.raises(DragomanError):
        require_variable_name(name)
