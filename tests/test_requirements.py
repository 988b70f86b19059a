"""The manifest is whole, the tests and the manifest agree, and each rule of the checker can fail."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from tests import requirements
from tests.requirements import Manifest, Naming, manifest_faults, namings_in, proof_faults, read

WHOLE = """
[[document]]
number = "000"
title = "A small document"
line_count = 4

[[requirement]]
id = "area:topic:name"
cites = ["000:1", "000:2-3"]
text = "It works."
area = "wire"

[[uncited]]
document = "000"
lines = "4"
why = "a blank line"
"""


def proving(*ids: str) -> list[Naming]:
    return [Naming("test_a.py:1", ids)]


# The manifest of this repository


def test_the_manifest_keeps_its_own_rules() -> None:
    assert manifest_faults(requirements.load()) == []


def test_the_manifest_and_the_tests_name_the_same_requirements() -> None:
    assert proof_faults(requirements.load(), requirements.namings()) == []


def test_the_manifest_covers_all_five_documents() -> None:
    assert {document.number: document.line_count for document in requirements.load().documents} == {
        "000": 437,
        "001": 192,
        "002": 450,
        "003": 634,
        "004": 195,
    }


def test_a_test_can_compare_with_the_exact_words_of_a_document() -> None:
    assert requirements.sentence("debug:stop:success-message") == "已发送停止调试会话的请求。"


def test_a_requirement_without_exact_words_has_no_words() -> None:
    with pytest.raises(AssertionError, match="has no exact words"):
        requirements.sentence("debug:stop:success")


# The manifest's rules


def test_a_whole_manifest_has_no_fault() -> None:
    assert manifest_faults(read(WHOLE)) == []


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('"000:1"', '"000:5"', "requirement area:topic:name: '000:5' lies outside of the 4 lines of the document"),
        (
            '"000:2-3"',
            '"000:3-2"',
            "requirement area:topic:name: '000:3-2' lies outside of the 4 lines of the document",
        ),
        ('"000:1"', '"009:1"', "requirement area:topic:name: '009:1' names no known document"),
        ('"000:1"', '"000:0"', "requirement area:topic:name: '000:0' is not document:line or document:first-last"),
        ('"000:1"', '"1"', "requirement area:topic:name: '1' is not document:line or document:first-last"),
        ('lines = "4"', 'lines = "4, 9"', "uncited 000: '000:9' lies outside of the 4 lines of the document"),
        ('lines = "4"', 'lines = "four"', "uncited 000: '000:four' is not document:line or document:first-last"),
        ('lines = "4"', 'lines = "3-4"', "line 000:3: cited, and called uncited"),
        ('"000:2-3"', '"000:2"', "line 000:3: neither cited nor explained"),
        ("line_count = 4", "line_count = 5", "line 000:5: neither cited nor explained"),
        ('cites = ["000:1", "000:2-3"]', "cites = []", "requirement area:topic:name: cites no line"),
        ('text = "It works."', 'text = ""', "requirement area:topic:name: no text"),
        ('area = "wire"', 'area = "kitchen"', "requirement area:topic:name: unknown area 'kitchen'"),
        ('why = "a blank line"', 'why = ""', "uncited 000:4: no reason"),
        (
            "[[uncited]]",
            '[[document]]\nnumber = "000"\ntitle = "T"\nline_count = 4\n[[uncited]]',
            "document 000: given 2 times",
        ),
    ],
)
def test_a_broken_manifest_says_what_is_wrong(old: str, new: str, fault: str) -> None:
    assert fault in manifest_faults(read(WHOLE.replace(old, new, 1)))


@pytest.mark.parametrize(
    "id", ["topic:name", "a:b:c:d", "Area:topic:name", "area:topic:two words", "area::name", "a:b:-c"]
)
def test_an_id_is_three_words_in_lower_case(id: str) -> None:
    faults = manifest_faults(read(WHOLE.replace("area:topic:name", id)))
    assert faults == [f"requirement {id}: an id is area:topic:name in lower case, digits and hyphens"]


def test_an_id_is_given_once() -> None:
    entry = WHOLE[WHOLE.index("[[requirement]]") : WHOLE.index("[[uncited]]")]
    assert manifest_faults(read(WHOLE + entry)) == ["requirement area:topic:name: given 2 times"]


@pytest.mark.parametrize("line", ['colour = "red"', 'pending = "yes"', "sentence = 3"])
def test_an_entry_has_only_the_fields_we_know(line: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        read(WHOLE.replace('area = "wire"', f'area = "wire"\n{line}'))


# What the tests name


@pytest.mark.parametrize(
    "source",
    [
        '@pytest.mark.requirement("a:b:c", "d:e:f")\ndef test_x(): ...',
        '@pytest.mark.requirement("a:b:c", "d:e:f")\nasync def test_x(): ...',
        '@pytest.mark.requirement("a:b:c", "d:e:f")\nclass TestX:\n    def test_y(self): ...',
        'class TestX:\n    @pytest.mark.requirement("a:b:c", "d:e:f")\n    def test_y(self): ...',
        'pytestmark = pytest.mark.requirement("a:b:c", "d:e:f")',
        'pytestmark = [pytest.mark.anyio, pytest.mark.requirement("a:b:c", "d:e:f")]',
        'CASES = [pytest.param(1, marks=pytest.mark.requirement("a:b:c", "d:e:f"))]',
        (
            '@pytest.mark.parametrize("x", [pytest.param(1, marks=[pytest.mark.requirement("a:b:c", "d:e:f")])])\n'
            "def test_x(x): ..."
        ),
    ],
)
def test_a_requirement_is_found_wherever_pytest_finds_its_mark(source: str) -> None:
    [naming] = namings_in(source, "test_a.py")
    assert (naming.ids, naming.fault) == (("a:b:c", "d:e:f"), "")


def test_other_marks_and_calls_name_nothing() -> None:
    assert namings_in('@pytest.mark.needs("lua")\ndef test_x():\n    api.requirement("a:b:c")', "test_a.py") == []


@pytest.mark.parametrize("arguments", ["", "NAME", '"a:b:c", NAME', '*["a:b:c"]', 'id="a:b:c"', "3"])
def test_a_requirement_is_named_by_literal_strings_alone(arguments: str) -> None:
    [naming] = namings_in(f"@pytest.mark.requirement({arguments})\ndef test_x(): ...", "test_a.py")
    assert naming == Naming("test_a.py:1", (), "requirements are named by literal strings, at least one")


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ('@pytest.mark.requirement("a:b:c")\ndef helper(): ...', "helper is not a test"),
        ('@pytest.mark.requirement("a:b:c")\nclass TestX:\n    size = 3', "TestX is not a test"),
        ('@pytest.mark.requirement("a:b:c")\nclass Case:\n    def test_y(self): ...', "Case is not a test"),
        (
            '@pytest.mark.skip\n@pytest.mark.requirement("a:b:c")\ndef test_x(): ...',
            "test_x is skipped or expected to fail, which proves nothing",
        ),
        (
            '@pytest.mark.requirement("a:b:c")\n@pytest.mark.xfail(reason="later")\ndef test_x(): ...',
            "test_x is skipped or expected to fail, which proves nothing",
        ),
        (
            '@pytest.mark.skip\nclass TestX:\n    @pytest.mark.requirement("a:b:c")\n    def test_y(self): ...',
            "TestX is skipped or expected to fail, which proves nothing",
        ),
        (
            'proves = pytest.mark.requirement\n@proves("a:b:c")\ndef test_x(): ...',
            "the mark is called where it stands, so that its names can be read",
        ),
    ],
)
def test_what_is_not_a_running_test_proves_nothing(source: str, fault: str) -> None:
    [naming] = namings_in(source, "test_a.py")
    assert (naming.ids, naming.fault) == ((), fault)


def test_namings_are_read_from_test_files_at_any_depth(tmp_path: Path) -> None:
    (tmp_path / "wire" / "dap").mkdir(parents=True)
    mark = 'import pytest\n\n\n@pytest.mark.requirement("a:b:c")\ndef test_x(): ...\n'
    (tmp_path / "wire" / "dap" / "test_deep.py").write_text(mark, encoding="utf-8")
    (tmp_path / "helpers.py").write_text(mark, encoding="utf-8")
    assert requirements.namings(tmp_path) == [Naming("wire/dap/test_deep.py:4", ("a:b:c",))]


# Both directions


def manifest_with(*, pending: bool) -> Manifest:
    return read(WHOLE.replace('area = "wire"', 'area = "wire"\npending = true') if pending else WHOLE)


def test_a_named_requirement_and_a_pending_one_are_both_in_order() -> None:
    assert proof_faults(manifest_with(pending=False), proving("area:topic:name")) == []
    assert proof_faults(manifest_with(pending=True), []) == []


def test_a_test_may_not_name_an_unknown_requirement() -> None:
    faults = proof_faults(manifest_with(pending=True), proving("area:topic:other"))
    assert faults == ["test_a.py:1: unknown requirement area:topic:other"]


def test_a_requirement_without_a_test_must_be_pending() -> None:
    faults = proof_faults(manifest_with(pending=False), [])
    assert faults == ["requirement area:topic:name: no test names it, and it is not pending"]


def test_a_proved_requirement_may_not_stay_pending() -> None:
    faults = proof_faults(manifest_with(pending=True), proving("area:topic:name"))
    assert faults == ["requirement area:topic:name: test_a.py:1 proves it, so it is no longer pending"]


def test_a_faulty_mark_is_reported_and_proves_nothing() -> None:
    faults = proof_faults(manifest_with(pending=True), [Naming("test_a.py:1", (), "helper is not a test")])
    assert faults == ["test_a.py:1: helper is not a test"]


# The report


def test_the_report_counts_by_area_and_lists_what_asks_for_nothing() -> None:
    lines = requirements.report(manifest_with(pending=False)).splitlines()
    assert f"{'wire':<12}{1:>8}{0:>9}{1:>6}" in lines
    assert f"{'all':<12}{1:>8}{0:>9}{1:>6}" in lines
    assert "000  3 of 4 lines cited  A small document" in lines
    assert "000:4  a blank line" in lines


def test_the_report_counts_a_pending_requirement_as_pending() -> None:
    lines = requirements.report(manifest_with(pending=True)).splitlines()
    assert f"{'wire':<12}{0:>8}{1:>9}{1:>6}" in lines


def test_the_command_prints_the_report_and_succeeds(capsys: pytest.CaptureFixture[str]) -> None:
    assert requirements.main(["report"]) == 0
    assert capsys.readouterr().out == requirements.report(requirements.load()) + "\n"


def test_the_command_fails_and_names_each_fault(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = tmp_path / "requirements.toml"
    broken.write_text(WHOLE.replace('lines = "4"', 'lines = "3"'), encoding="utf-8")
    monkeypatch.setattr(requirements, "MANIFEST", broken)
    assert requirements.main(["report"]) == 1
    assert "fault: line 000:4: neither cited nor explained" in capsys.readouterr().err.splitlines()


def test_the_command_explains_itself_when_misused(capsys: pytest.CaptureFixture[str]) -> None:
    assert requirements.main([]) == 2
    assert capsys.readouterr().err == "usage: python -m tests.requirements report\n"
