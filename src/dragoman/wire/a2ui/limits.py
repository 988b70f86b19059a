"""How much an agent may ask for. Every number is a refusal with a pointer, never a slow death."""

from __future__ import annotations

import msgspec


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    message_bytes: int = 1 << 20  # one JSONL line
    document_bytes: int = 4 << 20  # one list of messages
    messages: int = 1_000  # in one list, and what they come to in the model
    json_depth: int = 64  # nesting of a message, and of a data model
    surfaces: int = 64
    components: int = 2_000  # on one surface
    component_bytes: int = 4 << 20  # all components of one surface, as JSON
    children: int = 10_000  # named by all components of one surface; all are walked at every change
    data_model_bytes: int = 1 << 20  # one surface's data model, as JSON
    tree_depth: int = 64  # parents above a component
    nodes: int = 10_000  # in one resolved tree, after templates have been expanded
    tree_bytes: int = 16 << 20  # of one resolved tree: a template repeats its component and whatever that is bound to
    pointer_length: int = 1_024
    array_index: int = 10_000  # the highest index that a pointer may set


DEFAULT_LIMITS = Limits()
