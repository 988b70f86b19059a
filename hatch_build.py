"""Build steps of the package: compile the message catalogues and build the page.

Nothing else of the page is fetched when Dragoman is installed, so a wheel without it would stay without it.
"""

import sys
import tomllib
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "tools"))

import build_page  # noqa: E402
import catalogue  # noqa: E402
from setup_words import in_words  # noqa: E402


class PageHook(BuildHookInterface[Any]):
    """Builds the page, or ends the build with the reason. An editable installation shows the page of its checkout."""

    def dependencies(self) -> list[str]:
        """What the build needs besides: Node, where this machine has none that is new enough."""
        if not build_page.PAGE.exists() or build_page.is_built() or build_page.npm():
            return []
        packages: list[str] = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]["page"]
        return packages

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        catalogue.compile_all()
        if version == "editable":
            return
        if not build_page.PAGE.exists():  # a source archive carries the page as it was built
            if not (build_page.BUILT / "index.html").exists():
                self.app.abort(
                    in_words("This source archive lacks the page: build the package from a clone of the repository.")
                )
        elif not (build_page.is_built() or build_page.npm()):
            self.app.abort(build_page.NO_NODE)
        elif not build_page.build():
            self.app.abort(build_page.FAILED)
