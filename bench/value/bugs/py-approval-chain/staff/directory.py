"""Who works here, and for whom."""


class Person:
    def __init__(self, name, boss=""):
        self.name = name
        self.boss = boss
        self.waiting = []

    def __repr__(self):
        return f"<{self.name}>"


class Directory:
    def __init__(self, lines):
        self.people = {}
        for line in lines:
            name, _, boss = line.partition(">")
            self.people[name.strip().lower()] = Person(name.strip(), boss.strip())

    def find(self, name):
        person = self.people.get(name)
        return person
