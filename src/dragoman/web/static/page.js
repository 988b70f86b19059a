// The status page: spends the login code of its address, shows the daemon's state, follows the feed.
const chinese = navigator.language.toLowerCase().startsWith("zh");
const say = (english, zh) => (chinese ? zh : english);
const SHOWN_EVENTS = 200;
const LABELS = {
  version: ["version", "版本"], pid: ["process", "进程"], address: ["address", "地址"],
  workspace: ["workspace", "工作区"], started_at: ["since", "启动于"], sessions: ["sessions", "会话"],
};

const byId = (id) => document.getElementById(id);

function showConnection(text, bad = false) {
  byId("connection").textContent = text;
  byId("connection").classList.toggle("bad", bad);
}

function showState(state) {
  const rows = Object.entries(LABELS).filter(([key]) => key in state).flatMap(([key, words]) => {
    const term = document.createElement("dt");
    const value = document.createElement("dd");
    term.textContent = say(...words);
    value.textContent = Array.isArray(state[key]) ? String(state[key].length) : String(state[key]);
    return [term, value];
  });
  byId("state").replaceChildren(...rows);
}

function showEvents(rows) {
  const list = byId("events");
  for (const { sequence, at_ns: atNs, event } of rows) {
    const item = document.createElement("li");
    const time = document.createElement("time");
    time.textContent = new Date(atNs / 1e6).toLocaleTimeString();
    item.value = sequence;
    item.append(time, [event.kind, event.text].filter(Boolean).join(": "));
    list.prepend(item);
  }
  while (list.children.length > SHOWN_EVENTS) list.lastElementChild.remove();
}

async function spendCode() {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (!code) return;
  history.replaceState(null, "", location.pathname);
  const answer = await fetch("/api/login", { method: "POST", body: JSON.stringify({ code }) });
  const body = await answer.json();
  if (answer.ok) sessionStorage.setItem("session", body.session);
  else showConnection(`${body.error.message} ${body.error.hint}`, true);
}

async function showRecent(session, sequence) {
  const after = Math.max(0, sequence - 50);
  const answer = await fetch(`/api/events?after=${after}`, { headers: { Authorization: `Bearer ${session}` } });
  if (answer.ok) showEvents((await answer.json()).events.filter((row) => row.sequence <= sequence));
}

function follow(session, attempt = 0) {
  const feed = new WebSocket(`ws://${location.host}/api/feed`, ["dragoman.v1", `bearer.${session}`]);
  let opened = false;
  feed.onmessage = async ({ data }) => {
    const message = JSON.parse(data);
    if (message.state) showState(message.state);
    if (message.type === "snapshot") {
      opened = true;
      byId("events").replaceChildren();
      showConnection(say("connected", "已连接"));
      await showRecent(session, message.sequence);
    }
    if (message.type === "events") showEvents(message.events);
  };
  feed.onclose = ({ code }) => {
    if (code === 4401) return askForLink();
    showConnection(say("connection lost, trying again…", "连接中断，正在重试……"), true);
    setTimeout(() => follow(session, opened ? 0 : attempt + 1), Math.min(1000 * 2 ** attempt, 30000));
  };
}

function askForLink() {
  sessionStorage.removeItem("session");
  showConnection(say("Run `dragoman page` in a terminal for a login link.", "请在终端运行 `dragoman page` 获取登录链接。"), true);
}

if (chinese) {
  document.documentElement.lang = "zh";
  for (const element of document.querySelectorAll("[data-zh]")) element.textContent = element.dataset.zh;
}
await spendCode();
const session = sessionStorage.getItem("session");
if (session) follow(session);
else if (!byId("connection").classList.contains("bad")) askForLink();
