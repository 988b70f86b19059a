from archive_pages import Archive, render


def make_archive(entries):
    return Archive([f"entry {number}" for number in range(entries)])


def test_an_empty_archive_has_one_page():
    assert render(make_archive(0)) == {"/archive/1": []}


def test_the_last_page_holds_the_rest():
    shown = render(make_archive(23))
    titles = [title for page in shown.values() for title in page]
    assert titles[-1] == "entry 22"
