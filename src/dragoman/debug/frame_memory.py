"""What has changed in a frame since the program last stopped in it."""

from __future__ import annotations

from dragoman.debug.model import Change, Stop

_FRAMES = 256  # of deep recursions the ones seen last


class FrameMemory:
    def __init__(self) -> None:
        self._seen: dict[tuple[object, ...], dict[str, str]] = {}

    def compared(self, stop: Stop) -> tuple[Change, ...]:
        """By thread, function and depth: where a loop calls it again it is the same frame to who looks."""
        frame = stop.frame
        if frame is None or stop.top_locals is None:
            return ()
        key = (stop.thread_id, frame.path, frame.name, stop.total_frames - stop.at)
        before = self._seen.pop(key, None)
        now = {it.name: it.value for it in stop.top_locals.variables}
        self._seen[key] = now
        if len(self._seen) > _FRAMES:
            del self._seen[next(iter(self._seen))]
        if before is None:
            return ()
        return tuple(Change(name=name, before=before.get(name)) for name in now if before.get(name) != now[name])
