"""Contacts from files that spreadsheets write."""

import csv


class Contact:
    def __init__(self, name, mail):
        self.name = name
        self.mail = mail

    def __repr__(self):
        return f"Contact({self.name!r})"


def read_rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        reader = csv.reader(file)
        header = next(reader)
        columns = [it.strip().lower() for it in header]
        return [dict(zip(columns, line, strict=True)) for line in reader]


def contact_from(row):
    return Contact(row.get("name") or row["mail"].partition("@")[0], row["mail"].lower())


def import_contacts(path):
    return sorted((contact_from(row) for row in read_rows(path)), key=lambda it: it.name)
