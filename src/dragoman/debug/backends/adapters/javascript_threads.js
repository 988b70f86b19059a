(() => {
  // Where a node thread is, and what its event loop waits for. Evaluated in the running program: in the middle of a busy
  // loop, whose frames are then below, or between two events.
  const { stackTraceLimit, prepareStackTrace } = Error;
  let sites = [];
  try {
    Error.stackTraceLimit = 50;
    Error.prepareStackTrace = (_, found) => found;
    sites = new Error().stack;
  } finally {
    Object.assign(Error, { stackTraceLimit, prepareStackTrace });
  }
  sites = Array.isArray(sites) ? sites : [];
  const files = sites.map((site) => ({
    file: String(site.getFileName() || "").replace(/^file:\/\//, ""),
    line: site.getLineNumber() || 0,
    function: site.getFunctionName() || "",
  }));
  const isAtomics = (site) => /^Atomics\.wait\b/.test(String(site));
  const placed = files.filter((site) => site.file.startsWith("/"));
  const own = placed.find((site) => !site.file.includes("/node_modules/")) || placed[0];
  const counts = new Map();
  const resources = process.getActiveResourcesInfo ? process.getActiveResourcesInfo() : [];
  const standard = new Set(["TTYWrap", "PipeWrap", "Pipe"]);
  for (const name of resources.filter((it) => !standard.has(it))) counts.set(name, (counts.get(name) || 0) + 1);
  const target = [...counts].map(([name, count]) => (count > 1 ? `${name} ×${count}` : name)).join(", ");
  const workers = process.getBuiltinModule && process.getBuiltinModule("worker_threads");
  const number = workers && !workers.isMainThread ? workers.threadId : 0;
  const name = number ? `worker ${number}` : "main";
  const does = sites.some(isAtomics) ? { kind: "notification" } : { runs: true };
  const isBetweenEvents = resources.includes("Immediate"); // and goes on at once
  const waits = isBetweenEvents ? { runs: true } : { kind: "events", target: target.slice(0, 150) };
  const thread = own ? { name, ...own, ...does } : { name, ...waits };
  return encodeURIComponent(JSON.stringify({ pid: process.pid, threads: [thread] }));
})()
