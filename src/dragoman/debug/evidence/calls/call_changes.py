"""Compares two copies of a value: what to write to make the old one the new one."""

from __future__ import annotations

from typing import Any

from .call_values import ELLIPSIS, END_PAIRS, MAX_HASHED, key_text

_SHOWN_CHANGES = 6


def changes(path: str, old: Any, new: Any) -> list[tuple[str, Any]]:
    """What to write to make the old value the new one: of containers and objects, the entries that differ."""
    found = _differences(path, old, new)
    return found if len(found) <= _SHOWN_CHANGES else [(path, new)]


def _differences(path: str, old: Any, new: Any) -> list[tuple[str, Any]]:
    """Empty also where they differ only in how far the budget of each reached."""
    if type(old) is tuple and type(new) is tuple and "?" in (old[0], new[0]) and old[0] != new[0]:
        return []
    if type(old) is not tuple or type(new) is not tuple or old[:2] != new[:2] or new[0] in ("t", "s", "?"):
        return [(path, new)]
    if new[0] == "o":
        return _entries(path, old, new, "%s.%s")
    if new[0] == "d":
        return _entries(path, old, new, "%s[%s]")
    if new[1] == "list":
        return _list_differences(path, old, new)
    is_same = old[2] == new[2] and len(old) == len(new) and not _is_rehashed(old, new) and not _places(old, new)
    return [] if is_same else [(path, new)]


def _entries(path: str, old: Any, new: Any, form: str) -> list[tuple[str, Any]]:
    """Of fields and pairs. What a copy lacks is new or removed only if that copy is whole, or if it is the newest."""
    is_fields = new[0] == "o"
    held = [it[2 if is_fields else 3] for it in (old, new)]
    before, after = [{key: it for key, it in pairs if not _is_cut(key)} for pairs in held]
    old_size, new_size = [len(it[2]) + it[3] if is_fields else it[2] for it in (old, new)]

    def name(key: Any) -> str:
        return form % (path, key if is_fields else key_text(key))

    if any(len(dict(pairs)) < len(pairs) for pairs in held):  # keys look alike, so which is which is unknown
        is_same = old_size == new_size and not _is_rehashed(old, new) and not _is_other(held[0], held[1], new_size)
        return [] if is_same else [(path, new)]
    gone = [key for key in before if key not in after] if len(after) == new_size else []
    fresh = [key for key in after if key not in before]
    if fresh and len(before) < old_size:
        newest = list(after)[-min(END_PAIRS, new_size - old_size) :] if new_size > old_size else []
        fresh = [key for key in fresh if key in newest]
    found: list[tuple[str, Any]] = [(name(key), ("t", "(removed)")) for key in gone]
    kept = 0
    for key, it in after.items():
        if key not in before:
            found += [(name(key), it)] if key in fresh else []
        elif before[key] != it:
            found += _differences(name(key), before[key], it)
        else:
            kept += 1
    if len(fresh) - len(gone) != new_size - old_size or (not found and _is_rehashed(old, new)):
        return [(path, new)]
    return found if kept or len(found) <= 1 else [(path, new)]


def _is_cut(node: Any) -> bool:
    return type(node) is tuple and (node[:1] == ("?",) or any(map(_is_cut, node)))


def _is_other(old: Any, new: Any, size: int) -> bool:
    """Whether pairs differ in their order; unknown, and so not, where a copy has only some of them."""
    if not len(old) == len(new) == size:
        return False
    return any(was != now and _differences("", was, now) for pair in zip(old, new) for was, now in zip(*pair))


def _is_rehashed(old: Any, new: Any) -> bool:
    return len(old) == len(new) == 5 and bool(old[4] != new[4])


def _places(old: Any, new: Any) -> list[int]:
    """Where two copies of a sequence differ, as far as both reach."""
    pairs = enumerate(zip(old[3], new[3]))
    return [at for at, pair in pairs if pair[0] != pair[1] and ELLIPSIS not in pair and _differences("", *pair)]


def _list_differences(path: str, old: Any, new: Any) -> list[tuple[str, Any]]:
    before, after, added = old[3], new[3], new[2] - old[2]
    is_ends = len(old) == 5 or len(new) == 5 or max(old[2], new[2]) > MAX_HASHED
    if added > 0 and (is_ends or not _places(old, new)):
        shown = () if after[-1:] == (ELLIPSIS,) else after[-added:]
        return [(path + " +", ("l", "list", added, shown))] if added <= len(after) else [(path, new)]
    if added or len(old) != len(new):
        return [(path, new)]
    at = _places(old, new)
    if not at and not _is_rehashed(old, new):
        return []
    if not at or len(at) > 3 or is_ends:
        return [(path, new)]
    return [it for index in at for it in _differences("%s[%d]" % (path, index), before[index], after[index])]
