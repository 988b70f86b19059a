// The client that authors of debug adapters test theirs with, on `dragoman dap`.
const [, , testsupport, adapter, python, program, line] = process.argv;
const { DebugClient } = require(testsupport);

async function hit(launch) {
  const client = new DebugClient("/bin/sh", adapter, launch.type);
  client.defaultTimeout = 60_000;
  await client.start();
  try {
    const [{ body: stop }] = await Promise.all([
      client.waitForEvent("stopped"),
      client.hitBreakpoint(launch, { path: program, line: Number(line) }),
    ]);
    const { body: stack } = await client.stackTraceRequest({ threadId: stop.threadId });
    const { body } = await client.evaluateRequest({ expression: "total", frameId: stack.stackFrames[0].id });
    await client.setBreakpointsRequest({ source: { path: program }, breakpoints: [] });
    await Promise.all([client.waitForEvent("terminated"), client.continueRequest({ threadId: stop.threadId })]);
    return body.result;
  } finally {
    await client.stop();
  }
}

process.exitCode = 1; // also where an adapter that ends leaves nothing to wait for
hit({ type: "debugpy", request: "launch", program, python }).then((total) => {
  console.log(JSON.stringify({ total }));
  process.exitCode = 0;
}, console.error);
