"""How deep a tree of folders is."""


class Folder:
    def __init__(self, name, *children):
        self.name = name
        self.children = children

    def __repr__(self):
        return f"Folder({self.name!r})"


def depth_of(folder, level=1):
    name, deepest = folder.name, level
    for child in folder.children:
        level = depth_of(child, level + 1)
        deepest = max(deepest, level)
    return deepest


def summary(folder, limit=3):
    depth = depth_of(folder)
    state = "too deep" if depth > limit else "fine"
    return f"{folder.name}: {depth} levels, {state}"
