"""Meetings are stored in UTC and shown in the zone of who is invited."""

from datetime import datetime, timedelta, timezone

ZONES = {
    "Lisbon": timezone.utc,
    "Tokyo": timezone(timedelta(hours=9), "JST"),
    "Lima": timezone(timedelta(hours=-5), "PET"),
}


class Meeting:
    def __init__(self, title, start, minutes):
        self.title = title
        self.start = start
        self.minutes = minutes


def parse_start(text):
    return datetime.strptime(text, "%Y-%m-%d %H:%M").replace(tzinfo=timezone.utc)


def local_start(meeting, city):
    start = meeting.start
    local = start.replace(tzinfo=ZONES[city])
    return local


def invitation(title, begins, minutes, city):
    meeting = Meeting(title, parse_start(begins), minutes)
    begin = local_start(meeting, city)
    end = begin + timedelta(minutes=minutes)
    return f"{meeting.title}: {begin:%H:%M}-{end:%H:%M}"
