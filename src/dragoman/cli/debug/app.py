"""The commands behind `dragoman debug` as a table. Imported only when one of them is asked for."""

from __future__ import annotations

from dragoman.cli.debug import breakpoints, looking, motion
from dragoman.cli.debug.run import run
from dragoman.cli.labels import labelled_app
from dragoman.cli.output import shown
from dragoman.phrases import say

app = labelled_app(name="debug", default_command=run)

for name, function, about in (
    ("next", motion.next_, say("Step over the line.")),
    ("step", motion.step, say("Step into the call.")),
    ("out", motion.out, say("Step out of the function.")),
    ("continue", motion.continue_, say("Run to the next stop or the end.")),
    ("pause", motion.pause, say("Halt the running program.")),
    ("wait", motion.wait, say("Wait for the next stop; where it has stopped, tell it again.")),
    ("restart", motion.restart, say("End the program and start it again in the same session.")),
    ("stop", motion.stop, say("End the session.")),
    ("eval", looking.eval_, say("Evaluate an expression.")),
    ("vars", looking.vars_, say("Show the locals, or what is inside one.")),
    ("set", looking.set_, say("Change a variable.")),
    ("stack", looking.stack, say("Show the call stack.")),
    ("threads", looking.threads, say("Show the threads.")),
    ("output", looking.output, say("Show what the program printed.")),
    ("sessions", looking.sessions, say("List the debug sessions of the workspace.")),
    ("break", breakpoints.break_, say("Set a breakpoint that stays in the workspace.")),
    ("breakpoints", breakpoints.breakpoints, say("List the breakpoints of the workspace.")),
    ("clear", breakpoints.clear, say("Remove breakpoints.")),
):
    app.command(function, name=name, help=shown(about))
