"""Answers of several targets as one: text with a heading per target, and data whose rows name their `target`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from dragoman.cli.output import render
from dragoman.cli.router.target_requests import STRUCTURED_KEY, Answer, Reply
from dragoman.core.localization import localize

_STRUCTURED_SINCE = "2025-06-18"
_ABSENT = frozenset({"file_not_found", "outside_workspace"})
"""Errors that say that a target has nothing at that path. A folder there may be what is debugged, as in Go."""
TARGETS_FIRST = "start_debugging"
MERGED_ROWS: Mapping[str, str] = {
    "list_sessions": "sessions",
    "get_breakpoints": "breakpoints",
    "list_terminals": "terminals",
}
"""Tools that list what is on a target: all targets are asked, and each row names its `target`."""
_OF_ONE = frozenset({"content", "structuredContent", "isError", "_meta"})
"""Members of a result that say something about one target; the others belong to the revision of MCP."""


class AnswerMerger:
    """For one client. `revision` is the MCP revision that the targets agreed on with it."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self.revision = _STRUCTURED_SINCE
        self._failure_codes: dict[int, str] = {}
        """The error of each unreached target that the text has already explained."""

    # The handshake and the list of tools.

    def welcome(self, reply: Reply) -> Reply:
        """The answer to `initialize` or `server/discover`, with a sentence about the targets."""
        result = reply.get("result")
        if not isinstance(result, dict):
            return reply
        self.revision = str(result.get("protocolVersion", self.revision))
        sentence = (
            f"Several machines: {', '.join(self._names)}. Every tool takes `target`, which names one; without it, a "
            "call goes to the machine of its session or file, or to the last used. list_sessions asks all; "
            "wait_for_stop without session_id returns the first stop on any."
        )
        instructions = f"{result.get('instructions') or ''} {sentence}".strip()
        return {**reply, "result": {**result, "instructions": instructions}}

    def tools(self, reply: Reply) -> Reply:
        """`target` is published with the first tool alone: every tool takes it, and each repetition costs the model."""
        result = reply.get("result")
        tools = result.get("tools") if isinstance(result, dict) else None
        if not isinstance(result, dict) or not isinstance(tools, list):
            return reply
        return {**reply, "result": {**result, "tools": [self._with_target(it) for it in tools]}}

    def _with_target(self, tool: Any) -> Any:
        schema = tool.get("inputSchema") if isinstance(tool, dict) and tool.get("name") == TARGETS_FIRST else None
        properties = schema.get("properties", {}) if isinstance(schema, dict) else None
        if not isinstance(schema, dict) or not isinstance(properties, dict):
            return tool
        target = {
            "type": "string",
            "enum": list(self._names),
            "description": "Machine. Default: where the file is, else the last used.",
        }
        return {**tool, "inputSchema": {**schema, "properties": {**properties, "target": target}}}

    # Results of tools.

    def rows(self, tool: str, answers: Sequence[Answer]) -> Reply:
        """A list of every target. One that failed is named, and hides no other."""
        good = [it for it in answers if not it.is_error]
        if not good:
            return self.failures(answers)
        key = MERGED_ROWS[tool]
        rows = [{**row, "target": self._names[it.target]} for it in good for row in _rows(it.data, key)]
        failed = [it for it in answers if it.is_error]
        return self._result(answers, {**good[0].data, key: rows, **self._failed(failed)})

    def places(self, answers: Sequence[Answer]) -> Reply:
        """A breakpoint that was set or removed wherever the file is."""
        good = [it for it in answers if not it.is_error]
        if not good:
            return self.failures(answers)
        failed = [it for it in answers if it.is_error and it.code not in _ABSENT]
        shown = [it for it in answers if it in good or it in failed]
        data = {**good[0].data, "target": self._names[good[0].target], **self._failed(failed)}
        if len(good) > 1:
            data["also_on"] = [{**it.data, "target": self._names[it.target]} for it in good[1:]]
        return self._result(shown, data)

    def failures(self, answers: Sequence[Answer]) -> Reply:
        """Errors of all targets: those of a target that has the file, if there is one."""
        chosen = [it for it in answers if it.code not in _ABSENT] or list(answers)
        if len(chosen) == 1:
            return self.one(chosen[0], names_target=True)
        reached = next((it for it in chosen if not it.is_unreached), None)
        reply = self._result(chosen, {**(reached.data if reached else {}), **self._failed(chosen)})
        return {"result": {**reply["result"], "isError": True}}

    def one(self, answer: Answer, *, names_target: bool = False) -> Reply:
        """The answer of one target; `names_target` if the call did not."""
        if answer.is_unreached:
            return answer.reply
        result = dict(answer.result)
        data = answer.data
        result.pop("_meta", None)
        kept = {name: it for name, it in _meta(answer).items() if name != STRUCTURED_KEY}
        if kept:
            result["_meta"] = kept
        content = result.get("content")
        if names_target and isinstance(content, list):
            name = self._names[answer.target]
            named = {**data, "target": name}
            line = {"type": "text", "text": render(localize("target: {target}", target=name))}
            is_in_text = self.revision < _STRUCTURED_SINCE and data
            result["content"] = [{"type": "text", "text": self._text([], named)}] if is_in_text else [*content, line]
            if "structuredContent" in result:
                result["structuredContent"] = named
        return {"result": result}

    def has_file(self, answer: Answer) -> bool:
        return not answer.is_unreached and not (answer.is_error and answer.code in _ABSENT)

    def _result(self, answers: Sequence[Answer], data: dict[str, Any]) -> Reply:
        texts = [self._section(it) for it in answers]
        base = next((it.result for it in answers if not it.is_unreached), {})
        result = {name: it for name, it in base.items() if name not in _OF_ONE}
        result["content"] = [{"type": "text", "text": self._text(texts, data)}]
        if any("structuredContent" in it.result for it in answers):
            result["structuredContent"] = data
        return {"result": result}

    def _section(self, answer: Answer) -> str:
        """What one target says, below its name. Why it is not reached is explained once."""
        name = self._names[answer.target]
        last_code = self._failure_codes.pop(answer.target, "")
        if answer.is_unreached:
            self._failure_codes[answer.target] = answer.code
            if last_code == answer.code:
                return render(localize("On {target}: not reached ({code}).", target=name, code=answer.code))
        return f"{render(localize('On {target}:', target=name))}\n{answer.text}"

    def _text(self, texts: Sequence[str], data: dict[str, Any]) -> str:
        """Clients of old revisions read the data in the text."""
        if self.revision < _STRUCTURED_SINCE and data:
            return json.dumps(data, ensure_ascii=False, separators=(",", ":"))
        return "\n".join(texts)

    def _failed(self, answers: Sequence[Answer]) -> dict[str, Any]:
        failed = [{"target": self._names[it.target], "code": it.code, "message": it.text} for it in answers]
        return {"failed_targets": failed} if failed else {}


def _meta(answer: Answer) -> dict[str, Any]:
    meta = answer.result.get("_meta")
    return meta if isinstance(meta, dict) else {}


def _rows(data: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    rows = data.get(key)
    return [it for it in rows if isinstance(it, dict)] if isinstance(rows, list) else []
