/** The session that the login link of this tab became. It is valid in this tab, for one daemon. */
import { openChannel, sessionOf, type Key, type Channel, type ChannelListener, type Transcript } from "./proof";

const KEY = "session";

export function session(): Key | null {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? "null") as Key | null;
  } catch {
    return null;
  }
}

export function forgetSession(): void {
  sessionStorage.removeItem(KEY);
}

/** A socket to the daemon that served this page; undefined without a session. */
export function openDaemonChannel(path: string, listener: ChannelListener): Channel | null {
  const key = session();
  return key && openChannel(location.host.toLowerCase(), path, key, listener);
}

/**
 * The code of the login link stands in the fragment, which no server sees. It is proved like any key, and never sent.
 */
export function loginCode(): Key | null {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (!code) return null;
  history.replaceState(null, "", location.pathname);
  const [id = "", secret = ""] = code.split(".", 2);
  return { id, secret };
}

/** Whether the code was taken; from then on there is a session. */
export function redeem(code: Key): Promise<"in" | "refused" | "unreachable"> {
  return new Promise((settle) => {
    const proved = async (line: Channel, transcript: Transcript) => {
      sessionStorage.setItem(KEY, JSON.stringify(await sessionOf(code.secret, transcript)));
      line.close();
      settle("in");
    };
    openChannel(location.host.toLowerCase(), "/link/calls", code, {
      proved: (line, transcript) => void proved(line, transcript),
      message: () => undefined,
      closed: (why) => settle(why === "unreachable" ? "unreachable" : "refused"),
    });
  });
}
