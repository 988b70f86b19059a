"""Days as a person counts them: from midnight to midnight where the machine stands."""

from __future__ import annotations

from datetime import datetime, timedelta


def midnight_ns(now_ns: int, days_ago: int = 0) -> int:
    """Where a day begins; noon of the day is looked for first, since some days have 23 hours."""
    today = datetime.fromtimestamp(now_ns / 1e9).astimezone().replace(hour=12, minute=0, second=0, microsecond=0)
    day = (today - timedelta(days=days_ago)).date()
    return int(datetime(day.year, day.month, day.day).astimezone().timestamp()) * 10**9


def local_time(at_ns: int) -> str:
    return datetime.fromtimestamp(at_ns / 1e9).astimezone().strftime("%Y-%m-%d %H:%M")
