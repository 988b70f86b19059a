"""Secrets of every shape that is known by its shape, made up anew each time; none of them opens anything."""

from __future__ import annotations

import base64
import random
import string

_ALNUM = string.ascii_letters + string.digits
_UPPER = string.ascii_uppercase + string.digits


def leaks(seed: int) -> dict[str, str]:
    """One of each; put together here, so that no scanner takes this file for a leak."""
    dice = random.Random(seed)

    def some(letters: str, least: int, most: int = 0) -> str:
        return "".join(dice.choices(letters, k=dice.randint(least, max(least, most))))

    def part(least: int) -> str:
        return base64.urlsafe_b64encode(some(_ALNUM, least, 2 * least).encode()).decode().rstrip("=")

    return {
        "private key": f"-----BEGIN RSA {'PRIVATE'} KEY-----\n{some(_ALNUM, 60, 600)}\n-----END RSA PRIVATE KEY-----",
        "web token": f"eyJ{part(20)}.{part(30)}.{part(30)}",
        "aws": dice.choice(["AKIA", "ASIA"]) + some(_UPPER, 16),
        "github": f"gh{dice.choice('pousr')}_{some(_ALNUM, 36)}",
        "fine-grained github": f"github_pat_{some(_ALNUM, 40, 82)}",
        "gitlab": f"glpat-{some(_ALNUM, 20, 30)}",
        "slack": f"xox{dice.choice('abeprs')}-{some(_ALNUM, 20, 60)}",
        "openai": f"sk-{some(_ALNUM, 40, 60)}",
        "anthropic": f"sk-ant-api03-{some(_ALNUM, 60, 90)}",
        "stripe": f"{dice.choice('rs')}k_{dice.choice(['live', 'test'])}_{some(_ALNUM, 24)}",
        "google": f"AIza{some(_ALNUM, 35)}",
        "npm": f"npm_{some(_ALNUM, 36)}",
        "pypi": f"pypi-{some(_ALNUM, 60, 120)}",
    }


def password(seed: int) -> str:
    """Known by the name beside it alone."""
    return "".join(random.Random(seed).choices(_ALNUM, k=14))
