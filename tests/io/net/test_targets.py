"""Targets become argument lists, and no name becomes an option."""

from __future__ import annotations

import pytest

from dragoman.core.errors import DragomanError
from dragoman.io.net.targets import Target, find_target, require_variable_name

DECLARED = {"build1": ["ssh", "-J", "bastion", "build1", "dragoman", "pipe"]}
LOGIN_SHELL = "exec \"$SHELL\" -l -c 'exec dragoman pipe'"


def found(name: str) -> Target:
    return find_target(name, lambda: DECLARED)


@pytest.mark.parametrize(
    ("name", "end"),
    [
        ("ssh:build1", ("--", "build1", LOGIN_SHELL)),
        ("ssh:ada@build1.example.org", ("--", "ada@build1.example.org", LOGIN_SHELL)),
        ("ssh:ada@[::1]", ("--", "ada@::1", LOGIN_SHELL)),
        ("ssh:[::1]", ("--", "::1", LOGIN_SHELL)),
        ("docker:web_1", ("docker", "exec", "-i", "--", "web_1", "dragoman", "pipe")),
        ("podman:web.2", ("podman", "exec", "-i", "--", "web.2", "dragoman", "pipe")),
        ("kubectl:api-0", ("kubectl", "exec", "-i", "--quiet", "api-0", "--", "dragoman", "pipe")),
        (
            "kubectl:shop/api-0:web",
            (
                *("kubectl", "exec", "-i", "--quiet", "--namespace=shop", "--container=web"),
                *("api-0", "--", "dragoman", "pipe"),
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
    assert found("docker:web").environment(environment) == environment  # it sends none, and needs DOCKER_HOST


def test_a_script_for_ssh_is_one_word_of_the_shell_there() -> None:
    assert found("ssh:build1").probe_command("echo 'a b'")[-1] == "exec \"$SHELL\" -l -c 'echo '\"'\"'a b'\"'\"''"
    assert found("docker:web").probe_command("echo 'a b'")[-3:] == ("sh", "-c", "echo 'a b'")


@pytest.mark.parametrize("name", ["", "1A", "A=B", "A B", "-A", "PATH\n", "a" * 300])
def test_only_a_name_names_a_variable(name: str) -> None:
    assert require_variable_name("MY_TOKEN") == "MY_TOKEN"
    with pytest.raises(DragomanError):
        require_variable_name(name)
