"""Connected editors: ask one to show something, to answer, or to let a person decide."""

from dragoman.editors.registry import Editor, EditorInfo, EditorMethod, EditorRegistry, read_editor_info

__all__ = ["Editor", "EditorInfo", "EditorMethod", "EditorRegistry", "read_editor_info"]
