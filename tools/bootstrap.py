"""Sets up what `make run` and `make test` need, on a machine that has only Python, make and a package manager.

    python3 tools/bootstrap.py run      .venv with dragoman in it
    python3 tools/bootstrap.py test     the same with the test tools and the light peers; with CI=true or FULL=1 the
                                        heavy ones too

Standard library alone, any Python 3: it looks for one that is new enough.
"""

from __future__ import print_function

import hashlib
import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, ".venv")
INTERPRETERS = ("python3.13", "python3.12", "python3.11", "python3")

# program that proves it is there -> Debian package
LIGHT = {
    "bash": "bash",
    "fish": "fish",
    "gcc": "gcc",
    "lua5.1": "lua5.1",
    "lua5.2": "lua5.2",
    "lua5.3": "lua5.3",
    "lua5.4": "lua5.4",
    "luajit": "luajit",
    "runuser": "util-linux",
    "tmux": "tmux",
    "zsh": "zsh",
}
HEAVY = {"chromium": "chromium"}


def main():
    wanted = sys.argv[1] if len(sys.argv) > 1 else "run"
    ensure_venv()
    install_package(with_tests=wanted == "test")
    if wanted == "test":
        install_programs(LIGHT)
        if os.environ.get("CI") == "true" or os.environ.get("FULL"):
            install_programs(HEAVY)


def ensure_venv():
    if os.path.exists(os.path.join(VENV, "bin", "pip")):
        return
    interpreter = find_interpreter()
    say("Making .venv with %s" % interpreter)
    if subprocess.call([interpreter, "-m", "venv", VENV]) == 0:
        return
    shutil.rmtree(VENV, ignore_errors=True)
    install_packages(["python3-venv"])  # Debian ships Python without it
    if subprocess.call([interpreter, "-m", "venv", VENV]) != 0:
        stop("No virtual environment could be made with %s. Install its venv module (Debian: python3-venv)." % interpreter)


def find_interpreter():
    check = "import sys; sys.exit(sys.version_info < (3, 11))"
    for name in (sys.executable,) + INTERPRETERS:
        path = shutil.which(name)
        if path and subprocess.call([path, "-c", check]) == 0:
            return path
    return stop("Dragoman needs Python 3.11 or newer; none was found on PATH.")


def install_package(with_tests):
    """Skipped while what decides it has not changed since the last time."""
    stamp = os.path.join(VENV, ".dragoman-%s" % ("test" if with_tests else "run"))
    digest = digest_of("pyproject.toml", "constraints.txt", "tools/bootstrap.py")
    if os.path.exists(stamp) and read(stamp) == digest:
        return
    say("Installing dragoman and what it needs")
    pip = [os.path.join(VENV, "bin", "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    run(pip + ["-U", "pip>=25.1"])
    groups = ["--group", os.path.join(ROOT, "pyproject.toml") + ":dev"] if with_tests else []
    run(pip + ["-c", os.path.join(ROOT, "constraints.txt"), "-e", ROOT] + groups)
    with open(stamp, "w") as file:
        file.write(digest)


def install_programs(programs):
    missing = sorted({package for program, package in programs.items() if not shutil.which(program)})
    if missing:
        install_packages(missing)


def install_packages(packages):
    """By apt-get where we may; otherwise one line that says what to install."""
    if not (shutil.which("apt-get") and os.getuid() == 0):
        say("Some tests need programs that are not here. Install them: %s" % " ".join(packages))
        return
    say("Installing %s" % " ".join(packages))
    quiet = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    subprocess.call(["apt-get", "update", "-qq"], env=quiet)
    command = ["apt-get", "install", "-y", "-qq", "--no-install-recommends"] + packages
    with open(os.devnull, "w") as nowhere:
        if subprocess.call(command, env=quiet, stdout=nowhere) != 0:
            say("apt-get could not install all of: %s" % " ".join(packages))


def digest_of(*names):
    digest = hashlib.sha256()
    for name in names:
        digest.update(read(os.path.join(ROOT, name)).encode())
    return digest.hexdigest()


def read(path):
    with open(path) as file:
        return file.read()


def run(command):
    if subprocess.call(command) != 0:
        stop("This failed: %s" % " ".join(command))


def say(text):
    print("• " + text)
    sys.stdout.flush()


def stop(text):
    sys.exit("• " + text)


if __name__ == "__main__":
    main()
