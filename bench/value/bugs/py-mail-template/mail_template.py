"""Mails from templates with names in double braces."""

import re

NAME = re.compile(r"\{\{(.+)\}\}")


def fill(template, values):
    def value(match):
        name = match.group(1).strip()
        found = values.get(name, "")
        return str(found)

    return NAME.sub(value, template)


class Mail:
    def __init__(self, subject, body):
        self.subject = subject
        self.body = body


def compose(template, values):
    subject, _, body = fill(template, values).partition("\n")
    return Mail(subject.strip(), body.strip())
