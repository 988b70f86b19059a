"""Drafts of reports, begun from a template."""

import copy


def start_draft(template, title):
    draft = copy.copy(template)
    draft["title"] = title
    return draft


def add_section(draft, name):
    if name not in draft["sections"]:
        draft["sections"].append(name)
    return draft


class Desk:
    def __init__(self):
        self.template = {"title": "", "sections": ["summary", "costs"]}
        self.drafts = []

    def begin(self, title, *extra):
        draft = start_draft(self.template, title)
        for name in extra:
            add_section(draft, name)
        self.drafts.append(draft)
        return draft

    def pages(self):
        return sum(len(draft["sections"]) for draft in self.drafts)
