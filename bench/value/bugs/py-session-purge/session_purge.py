"""Sessions of a web site, and how old ones go."""


class Session:
    def __init__(self, user, seen):
        self.user = user
        self.seen = seen

    def __repr__(self):
        return f"<{self.user} {self.seen}>"


def purge(sessions, now, age):
    removed = 0
    for session in sessions:
        if now - session.seen > age:
            sessions.remove(session)
            removed += 1
    return removed


class Site:
    def __init__(self):
        self.sessions = []
        self.purged = 0

    def sign_in(self, user, now):
        self.sessions.append(Session(user, now))

    def tick(self, now, age=30):
        self.purged += purge(self.sessions, now, age)

    def users(self):
        return [session.user for session in self.sessions]
