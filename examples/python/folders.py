"""Adds up folders within folders. The size should be 15; the program says 8."""

Tree = dict[str, "int | Tree"]
DISK: Tree = {"a": 1, "docs": {"b": 2, "old": {"c": 4}}, "pics": {"d": 8}}


def size(tree: Tree, depth: int = 0) -> int:
    total = 0
    for entry in tree.values():
        if isinstance(entry, dict):
            total = size(entry, depth + 1)
        else:
            total += entry
    return total


print("size", size(DISK))
