"""Trips need the approval of a boss."""


def approver_of(directory, person):
    boss = person.boss
    approver = directory.find(boss) if boss else person
    return approver


def approve(directory, traveller, trip):
    person = directory.find(traveller)
    approver = approver_of(directory, person)
    approver.waiting.append((person.name, trip))
    return approver.name
