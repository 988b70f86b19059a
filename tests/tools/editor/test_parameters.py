"""The editor's tools name a file as all others do, and still know the name that they had before."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from dragoman.tools.editor.actions import DiffParameters, OpenParameters
from dragoman.tools.editor.inspection import DiagnosticsParameters
from dragoman.tools.tool import Parameters


@pytest.mark.parametrize("kind", [OpenParameters, DiffParameters, DiagnosticsParameters])
@pytest.mark.parametrize("name", ["file_path", "path"])
def test_a_file_is_named_by_either_name(kind: type[Parameters], name: str) -> None:
    more = {"text": "x"} if kind is DiffParameters else {}
    taken = kind.model_validate({name: "a.py", **more})
    assert taken.model_dump()["file_path"] == "a.py"
    assert "path" not in kind.model_json_schema()["properties"]


def test_both_names_at_once_are_refused() -> None:
    with pytest.raises(ValidationError):
        OpenParameters.model_validate({"file_path": "a.py", "path": "b.py"})
