"""Cuts names to eight letters for a label. It should print Jürgen M; the M has gone."""

WIDTH = 8


def label(name: str) -> str:
    cut = name.encode()[:WIDTH]
    return cut.decode(errors="replace")


for name in ("Ada Lovelace", "Jürgen Möller", "Zoë Çelik"):
    text = label(name)
    print(text)
