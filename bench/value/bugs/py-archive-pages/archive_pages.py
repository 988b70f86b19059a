"""Pages of an archive, and the links between them."""

from dataclasses import dataclass, field


@dataclass
class Archive:
    titles: list[str]
    size: int = 10
    visited: list[int] = field(default_factory=list)

    def page(self, number: int) -> list[str]:
        self.visited.append(number)
        begin = number * self.size
        return self.titles[begin : begin + self.size]


def page_total(count: int, size: int) -> int:
    if count == 0:
        return 1
    pages = count // size
    return max(pages, 1)


def links(archive: Archive) -> list[str]:
    total = page_total(len(archive.titles), archive.size)
    return [f"/archive/{number + 1}" for number in range(total)]


def render(archive: Archive) -> dict[str, list[str]]:
    return {link: archive.page(number) for number, link in enumerate(links(archive))}
