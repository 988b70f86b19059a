"""Releases, and whether one is behind the newest."""

import re


class Release:
    def __init__(self, version, date):
        if not re.fullmatch(r"\d+(\.\d+)*", version):
            raise ValueError(version)
        self.version = version
        self.date = date

    def __repr__(self):
        return f"<{self.version}>"

    @property
    def parts(self):
        return tuple(int(part) for part in self.version.split("."))


def newest(releases):
    ordered = sorted(releases, key=lambda release: release.version)
    return ordered[-1]


def needs_update(installed, releases):
    latest = newest(releases)
    return Release(installed, "").parts < latest.parts
