"""Where our gateway answers otherwise than the recorded ones, and why. docs/protocols/gateway.md has the same list."""

from __future__ import annotations

ALLOWED: dict[str, str] = {
    # The handshake.
    "connect: taken here, refused there (protocol mismatch)": "one gateway serves both 3 and 4",
    "connect: taken here, refused there (PROTOCOL_MISMATCH)": "the same, in the words of 4",
    "connect: taken here, refused there (PAIRING_REQUIRED)": "who has the token is let in",
    "connect: taken here, refused there (CONTROL_UI_ORIGIN_NOT_ALLOWED)": "Origin is judged earlier",
    "connect.protocol differs": "the highest that both speak",
    "connect.message differs": "a wrong token is told without the names of settings that are not ours",
    "close.reason differs": "is that message",
    "connect.details.*": "a version that nobody speaks is told in the shape of 4, to clients of 3 too",
    "connect.auth.scopes has other members": "what was asked for and exists, with a device or without",
    "connect.auth.method is left out": "of 4, about its own accounts",
    "connect.auth.recovery* is left out": "of 4, about its own accounts",
    "connect.server.*": "its own version and builds",
    "connect.features.*": "what there is here",
    "connect.policy.*": "frames of 1 MiB, and as much unsent; no attachments, no shared sessions",
    "connect.snapshot.*": "no paths, no configuration; presence and health are asked for",
    "connect.canvasHostUrl is left out": "there is no canvas host: pages of ours draw the canvas",
    "connect.pluginSurfaceUrls is left out": "the same, in 4",
    "connect.controlUi* is left out": "of its own page",
    # Nodes and pairing.
    "node.*": "no nodes are taken: agents draw through tools, people see it on the page",
    "device.pair.*: refused here (unknown method: *)": "nothing waits for a pairing",
    # Sessions.
    "session.list: taken here, refused there (*)": "the specification's spelling",
    "session.create: taken here, refused there (*)": "the specification's spelling",
    "sessions.list.count differs": "one more by the specification's spelling; earlier ones when recorded",
    "sessions.list.totalCount differs": "the same",
    "sessions.list.hasMore differs": "the same",
    "sessions.list.sessions has other members": "the same",
    "sessions.list.path differs": "a store, no file",
    "sessions.list.defaults.*": "another model; what it may read at once is not known here",
    "sessions.*.entry.sessionFile is left out": "a store, no file",
    "sessions.delete.archived has other members": "a store, no file",
    "sessions.patch.path is left out": "a store, no file",
    "sessions.patch.resolved is left out": "the model is the same for all sessions",
    # Chats.
    "chat.abort.*": "the run was begun on a connection that was not recorded",
    "chat.send.status differs": "the key of a stopped run is used up: `ok`, and no run that ends at once",
    "chat.sessionKey differs": "always the whole key, also in `aborted`",
    "chat.seq differs": "counts our frames of the run",
    "chat.agentId is added": "as in the frames of 4, on 3 too",
    "chat.stopReason is left out": "of 4, on `final`",
    "chat.message.*": "a command's answer is not said to come from a model",
    "chat.history.messages has other members": "a message is there as soon as it was sent, and a stopped answer once",
    "chat.history.messages[]*": "without the provider's accounting; in the shape of 3 on 4 too",
    "chat.history.thinkingLevel is added": "as on 3",
    "chat.history.inFlightRun*": "on 3 too; of its events those of tools alone",
    "chat.history.* is left out": "of 4: what runs is told by events, `inFlightRun` and `hasActiveRun`",
    # The rest.
    "agents.list.agents[].*": "our agent, our model, our workspace",
    "models.list.models[].*": "our model; what it can do is not known here",
    "system-presence has other members": "who is connected here",
    "tools.effective.message differs": "unknown method",
}
