"""Tickets of a help desk, from lines such as `70412;open;No sound`."""


class Ticket:
    def __init__(self, owner, state, title):
        self.owner = owner
        self.state = state
        self.title = title


def parse(line):
    owner, state, title = line.split(";", 2)
    return Ticket(int(owner), state, title)


def belongs_to(ticket, account):
    owner = ticket.owner
    same = owner is account
    return same


def open_tickets(lines, account):
    tickets = [parse(line) for line in lines]
    return [it.title for it in tickets if it.state == "open" and belongs_to(it, account)]
