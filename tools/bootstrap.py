"""Sets up what `make run` and `make test` need, on a machine that has only Python, make and a package manager.

    python3 tools/bootstrap.py run      .venv with dragoman in it
    python3 tools/bootstrap.py test     the same with the test tools and the light peers; with CI=true or FULL=1 the
                                        heavy ones too

Standard library alone, and any Python 3.8: it looks for one that is new enough.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import build_page
import catalogue
import install_editor
import working_gdb
from setup_words import in_words

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
INTERPRETERS = ("python3.13", "python3.12", "python3.11", "python3")

PEERS = ROOT / ".peers"  # where the adapters are that we install ourselves; tests/peers.py looks there

# programs or a file of which one proves that it is there -> Debian package
LIGHT = {
    "bash": "bash",
    "fish": "fish",
    "gcc": "gcc",
    "gdb": "gdb",
    "less": "less",
    "lua5.1": "lua5.1",
    "lua5.2": "lua5.2",
    "lua5.3": "lua5.3",
    "lua5.4": "lua5.4",
    "luajit": "luajit",
    "runuser": "util-linux",
    "ssh": "openssh-client",
    "tmux": "tmux",
    "vim": "vim",
    "zsh": "zsh",
    "/usr/include/stdio.h": "libc6-dev",
    "/usr/share/zsh-autosuggestions/zsh-autosuggestions.zsh": "zsh-autosuggestions",
    "/usr/share/zsh-syntax-highlighting/zsh-syntax-highlighting.zsh": "zsh-syntax-highlighting",
    "/usr/lib/x86_64-linux-gnu/lua/5.4/socket/core.so /usr/lib/aarch64-linux-gnu/lua/5.4/socket/core.so": "lua-socket",
}
HEAVY = {
    "/usr/sbin/sshd": "openssh-server",  # not light: on a machine with systemd, its package starts a server
    "chromium-headless-shell chromium": "chromium-headless-shell",
    "dlv": "delve",
    "g++": "g++",
    "go": "golang-go",
    "lldb-dap lldb-dap-19 lldb-dap-20 lldb-dap-21 lldb-dap-22": "lldb-19",
    "node": "nodejs",
    "npm": "npm",
    "rdbg rdbg3.1 rdbg3.2 rdbg3.3": "ruby",
    "rustc": "rustc",
}
ADAPTERS = ("javascript", "codelldb")


def main() -> None:
    wanted = sys.argv[1] if len(sys.argv) > 1 else "run"
    ensure_venv()
    install_package(with_tests=wanted == "test")
    if wanted == "test":
        install_programs(LIGHT)
        prepare_gdb()
        if os.environ.get("CI") == "true" or os.environ.get("FULL"):
            install_programs(HEAVY)
            install_adapters()
            install_the_editor()
    if not catalogue.is_compiled():
        run([str(VENV / "bin" / "python"), str(ROOT / "tools" / "catalogue.py"), "compile"])
    build_the_page()


def build_the_page() -> None:
    """By this checkout's Python, which knows the Node that was brought for it."""
    if build_page.is_built():
        return
    if not build_page.npm():
        say("Fetching Node, which builds the page")
        subprocess.call(by_hashes("requirements-page.txt"))
    say("Building the page")
    if subprocess.call([str(VENV / "bin" / "python"), str(ROOT / "tools" / "build_page.py")]) == 0:
        return
    report = stop if os.environ.get("CI") == "true" else say
    report("The page is not built, so the browser shows a notice in its place.")


def ensure_venv() -> None:
    if (VENV / "bin" / "pip").exists():
        return
    interpreter = find_interpreter()
    say("Making .venv with {interpreter}", interpreter=interpreter)
    if subprocess.call([interpreter, "-m", "venv", str(VENV)]) == 0:
        return
    shutil.rmtree(VENV, ignore_errors=True)
    install_packages(["python3-venv"])  # Debian ships Python without it
    if subprocess.call([interpreter, "-m", "venv", str(VENV)]) != 0:
        stop(
            "{interpreter} could not make a virtual environment. Install its venv module (Debian: python3-venv).",
            interpreter=interpreter,
        )


def find_interpreter() -> str:
    check = "import sys; sys.exit(sys.version_info < (3, 11))"
    for name in (sys.executable, *INTERPRETERS):
        path = shutil.which(name)
        if path and subprocess.call([path, "-c", check]) == 0:
            return path
    return stop("Dragoman needs Python 3.11 or newer; none was found on PATH.")


def install_package(*, with_tests: bool) -> None:
    """Skipped while what decides it has not changed since the last time."""
    wanted = "requirements-dev.txt" if with_tests else "requirements.txt"
    stamp = VENV / f".dragoman-{'test' if with_tests else 'run'}"
    digest = digest_of("pyproject.toml", wanted)
    if stamp.exists() and stamp.read_text() == digest:
        return
    say("Installing dragoman and what it needs")
    for command in package_commands(wanted):
        run(command)
    stamp.write_text(digest)


def package_commands(wanted: str) -> "list[list[str]]":
    """Packages by their hashes, whoever serves them; then ourselves, for which nothing more is fetched or built.

    Wheels alone: a source archive would fetch what builds it, by name and not by hash, and run that.
    """
    return [by_hashes(wanted), [*pip_install(), "--no-deps", "--no-build-isolation", "-e", str(ROOT)]]


def by_hashes(wanted: str) -> "list[str]":
    return [*pip_install(), "--require-hashes", "--only-binary", ":all:", "-r", str(ROOT / wanted)]


def pip_install() -> "list[str]":
    return [str(VENV / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check"]


def install_programs(programs: "dict[str, str]") -> None:
    missing = sorted({package for names, package in programs.items() if not any(map(is_there, names.split()))})
    if missing:
        install_packages(missing)


def is_there(name: str) -> bool:
    return Path(name).exists() if name.startswith("/") else bool(shutil.which(name))


def install_adapters() -> None:
    """By the product's own installer, into a folder that no user's daemon looks at."""
    for name in ADAPTERS:
        if not (PEERS / "state" / "adapters" / name).exists():
            home = {**os.environ, "DRAGOMAN_HOME": str(PEERS)}
            if subprocess.call([str(VENV / "bin" / "dragoman"), "adapters", "install", name], env=home) != 0:
                say("The adapter {name} could not be installed; its tests will say so.", name=name)


def prepare_gdb() -> None:
    if not working_gdb.ensure():
        say("gdb cannot call functions here; the tests that attach by process ID will say so.")


def install_the_editor() -> None:
    if not install_editor.install():
        say("The editor could not be installed; the tests of its extension will say so.")


def install_packages(packages: "list[str]") -> None:
    """By apt-get where we may; otherwise one line that says what to install."""
    if not (shutil.which("apt-get") and os.getuid() == 0):
        say("Some tests need programs that are not here. Install them: {packages}", packages=" ".join(packages))
        return
    say("Installing {packages}", packages=" ".join(packages))
    apt_get("update")
    if apt_get("install", *packages):
        return
    failed = [package for package in packages if not apt_get("install", package)]  # one that is unknown fails them all
    if failed:
        say("apt-get could not install: {packages}", packages=" ".join(failed))


def apt_get(order: str, *packages: str) -> bool:
    options = ["-y", "--no-install-recommends"] if packages else []
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    command = ["apt-get", order, "-qq", *options, *packages]
    return subprocess.call(command, env=quiet, stdout=subprocess.DEVNULL) == 0


def digest_of(*names: str) -> str:
    return hashlib.sha256(b"".join((ROOT / name).read_bytes() for name in names)).hexdigest()


def run(command: "list[str]") -> None:
    if subprocess.call(command) != 0:
        stop("This failed: {command}", command=" ".join(command))


def say(english: str, **values: object) -> None:
    print(f"• {in_words(english, **values)}", flush=True)


def stop(english: str, **values: object) -> str:
    sys.exit(f"• {in_words(english, **values)}")


if __name__ == "__main__":
    main()
