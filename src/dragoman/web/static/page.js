// The status page: spends the login code of its address, shows the daemon's state, follows the feed.
const chinese = navigator.language.toLowerCase().startsWith("zh");
const say = (english, zh) => (chinese ? zh : english);
const SHOWN_EVENTS = 200;
const RECENT_EVENTS = 50;
const ROTATED = 4401;
const LABELS = {
  version: ["version", "版本"], pid: ["process", "进程"], address: ["address", "地址"],
  workspace: ["workspace", "工作区"], started_at: ["since", "启动于"], sessions: ["sessions", "会话"],
};

const byId = (id) => document.getElementById(id);

function element(name, text, className = "") {
  const made = document.createElement(name);
  made.textContent = text; // never as HTML: what happened was written by programs
  made.className = className;
  return made;
}

function showConnection(text, mood) {
  byId("connection").textContent = text;
  byId("connection").className = mood;
}

function shown(key, value) {
  if (Array.isArray(value)) return String(value.length);
  return key === "started_at" ? new Date(value).toLocaleString() : String(value);
}

function showState(state) {
  const rows = Object.entries(LABELS).filter(([key]) => key in state)
    .flatMap(([key, words]) => [element("dt", say(...words)), element("dd", shown(key, state[key]))]);
  byId("state").replaceChildren(...rows);
}

function addToList(item) {
  const list = byId("events");
  list.prepend(item);
  while (list.children.length > SHOWN_EVENTS) list.lastElementChild.remove();
}

function showEvents(rows) {
  for (const { sequence, at_ns: atNs, event } of rows) {
    const item = document.createElement("li");
    const time = element("time", new Date(atNs / 1e6).toLocaleTimeString([], { hour12: false }));
    item.append(element("span", sequence, "number"), time, element("span", event.kind, "kind"),
      element("span", event.text ?? "", "text"));
    addToList(item);
  }
}

function showGap({ after, resumed_at: resumedAt }) {
  const missed = resumedAt - after;
  addToList(element("li", say(`${missed} events passed too quickly to show`, `有 ${missed} 个事件过快，未显示`), "gap"));
}

async function spendCode() {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (!code) return;
  history.replaceState(null, "", location.pathname);
  const answer = await fetch("/api/login", { method: "POST", body: JSON.stringify({ code }) });
  const body = await answer.json();
  if (answer.ok) sessionStorage.setItem("session", body.session);
  else showConnection(`${body.error.message} ${body.error.hint}`, "bad");
}

const ask = (path, session) => fetch(path, { headers: { Authorization: `Bearer ${session}` } });

async function showRecent(session, sequence) {
  const answer = await ask(`/api/events?after=${Math.max(0, sequence - RECENT_EVENTS)}`, session);
  if (answer.ok) showEvents((await answer.json()).events.filter((row) => row.sequence <= sequence));
}

async function show(session, message) {
  if (message.state) showState(message.state);
  if (message.type === "snapshot") {
    byId("events").replaceChildren();
    byId("inside").hidden = false;
    showConnection(say("connected", "已连接"), "good");
    await showRecent(session, message.sequence);
  } else if (message.type === "gap") showGap(message);
  else if (message.type === "events") showEvents(message.events);
}

// A refused upgrade tells a page nothing but that it failed: the status is asked for by a plain request.
async function isRefused(session) {
  try {
    return (await ask("/api/status", session)).status === 401;
  } catch {
    return false; // nobody there: it may come back
  }
}

function follow(session, attempt = 0) {
  const feed = new WebSocket(`ws://${location.host}/api/feed`, ["dragoman.v1", `bearer.${session}`]);
  let isOpen = false;
  let inOrder = Promise.resolve();
  feed.onopen = () => { isOpen = true; };
  feed.onmessage = ({ data }) => { inOrder = inOrder.then(() => show(session, JSON.parse(data))); };
  feed.onclose = async ({ code }) => {
    if (code === ROTATED || await isRefused(session)) return askForLink();
    showConnection(say("connection lost, trying again…", "连接中断，正在重试……"), "bad");
    const next = isOpen ? 0 : attempt + 1;
    setTimeout(() => follow(session, next), Math.min(500 * 2 ** next, 15000));
  };
}

function askForLink() {
  sessionStorage.removeItem("session");
  byId("inside").hidden = true;
  showConnection(say("Run `dragoman page` in a terminal for a login link.", "请在终端运行 `dragoman page` 获取登录链接。"), "bad");
}

if (chinese) {
  document.documentElement.lang = "zh";
  for (const it of document.querySelectorAll("[data-zh]")) it.textContent = it.dataset.zh;
}
await spendCode();
const session = sessionStorage.getItem("session");
if (session) follow(session);
else if (byId("connection").className !== "bad") askForLink();
