"""Editors that are connected: asked to show, to tell and to let a person decide."""

from dragoman.editor.model import About, Called, read_about
from dragoman.editor.service import Editor, Editors

__all__ = ["About", "Called", "Editor", "Editors", "read_about"]
