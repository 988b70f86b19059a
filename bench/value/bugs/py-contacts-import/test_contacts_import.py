from contacts_import import import_contacts


def test_a_plain_file(tmp_path):
    file = tmp_path / "plain.csv"
    file.write_bytes("Name,Mail\nZoë,z@example.org\n".encode())
    assert [it.name for it in import_contacts(file)] == ["Zoë"]


def test_a_file_of_a_spreadsheet(tmp_path):
    file = tmp_path / "exported.csv"
    file.write_bytes(b"\xef\xbb\xbfName,Mail\r\nAda Lovelace,ada@example.org\r\n")
    assert import_contacts(file)[0].name == "Ada Lovelace"
