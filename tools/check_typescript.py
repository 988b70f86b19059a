"""Checks, formats and tests the TypeScript of the page (web/) and of the VS Code extension (vscode/).

    python3 tools/check_typescript.py lint     Prettier, ESLint and the compiler
    python3 tools/check_typescript.py fmt      put it in shape
    python3 tools/check_typescript.py test     the unit tests, with vitest

Standard library alone. Needs the Node that builds the page, and fetches it where there is none; the tools themselves
come from the lock file in tools/typescript. Where they cannot be installed, CI fails and a developer gets a notice.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import bootstrap
import build_page
from setup_words import in_words

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ROOT / "tools" / "typescript"
PACKAGES = TOOLS / "node_modules"
CACHE = PACKAGES / ".cache"
LINTED = ("web/src", "web/test", "vscode/src", "vscode/test")
FORMATTED = (*LINTED, "web/vite.config.ts", "vscode/*.mjs", "vscode/*.mts", "tools/typescript/*.mjs")
PROJECTS = ("page", "extension", "webview")

Command = "list[str]"


def main() -> None:
    wanted = sys.argv[1] if len(sys.argv) > 1 else "lint"
    if not install():
        skipped = in_words("TypeScript was not checked: that needs Node 20 or newer with npm, and its packages.")
        sys.exit(skipped if os.environ.get("CI") == "true" else print(f"• {skipped}"))
    actions = {"lint": lint, "fmt": fmt, "test": test}
    sys.exit(0 if actions[wanted]() else 1)


def lint() -> bool:
    """ESLint, which takes longest, beside the others: two cores are what most machines have."""
    running = subprocess.Popen(eslint(), cwd=ROOT, env=environment())
    others = [prettier("--check"), *map(compiler, PROJECTS)]
    passed = [run(command) for command in others]
    return running.wait() == 0 and all(passed)


def fmt() -> bool:
    return run(prettier("--write")) & run([*eslint(), "--fix"])


def test() -> bool:
    """From the extension's folder, where its own `npm test` runs them too."""
    command = [*node(), str(PACKAGES / "vitest" / "vitest.mjs"), "run", "--config", str(TOOLS / "vitest.config.mjs")]
    return run([*command, "--reporter", "dot"], folder=ROOT / "vscode")


def eslint() -> Command:
    cache = ["--cache", "--cache-strategy", "content", "--cache-location", str(CACHE / "eslint.json")]
    program = PACKAGES / "eslint" / "bin" / "eslint.js"
    return [*node(), str(program), "--config", str(TOOLS / "eslint.config.mjs"), "--max-warnings", "0", *cache, *LINTED]


def prettier(action: str) -> Command:
    cache = ["--cache", "--cache-strategy", "content", "--cache-location", str(CACHE / "prettier.json")]
    program = PACKAGES / "prettier" / "bin" / "prettier.cjs"
    config = ["--config", str(TOOLS / "prettier.config.mjs"), "--ignore-path", str(ROOT / ".gitignore")]
    return [*node(), str(program), action, "--log-level", "warn", *config, *cache, *FORMATTED]


def compiler(project: str) -> Command:
    program = PACKAGES / "typescript" / "bin" / "tsc"
    remembered = ["--incremental", "--tsBuildInfoFile", str(CACHE / f"{project}.tsbuildinfo")]
    return [*node(), str(program), "--noEmit", "-p", str(TOOLS / f"tsconfig.{project}.json"), *remembered]


def install() -> bool:
    """The page's packages too: the compiler reads their types."""
    if not build_page.npm():
        subprocess.call(bootstrap.by_hashes("requirements-page.txt"))
    return bool(build_page.npm()) and build_page.install() and install_tools()


def install_tools() -> bool:
    """What the lock file says, by its checksums; no package's scripts are run."""
    stamp = PACKAGES / build_page.STAMP
    digest = hashlib.sha256((TOOLS / "package-lock.json").read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == digest:
        return True
    if not run([*build_page.npm(), "install", "--no-save", "--ignore-scripts", "--loglevel", "error"], folder=TOOLS):
        return False
    stamp.write_text(digest)
    return True


def node() -> Command:
    """The one that npm runs on: the one on PATH, or the one that a Python package brought."""
    command = build_page.npm()
    return [command[0] if len(command) > 1 else str(shutil.which("node"))]


def environment() -> "dict[str, str]":
    path = os.pathsep.join([str(Path(node()[0]).parent), os.environ.get("PATH", "")])
    return {**os.environ, "PATH": path}


def run(command: Command, folder: Path = ROOT) -> bool:
    return subprocess.call(command, cwd=folder, env=environment()) == 0


if __name__ == "__main__":
    main()
