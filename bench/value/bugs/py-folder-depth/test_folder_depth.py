from folder_depth import Folder, summary


def test_a_chain():
    assert summary(Folder("a", Folder("b"))) == "a: 2 levels, fine"


def test_siblings_do_not_add_up():
    home = Folder("home", Folder("mail"), Folder("pictures", Folder("2024")), Folder("music"))
    assert summary(home) == "home: 3 levels, fine"
