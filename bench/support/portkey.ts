/** Starts @portkey-ai/gateway from the peers' folder on a free port and prints its address. */
import { connect, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const port = await new Promise<number>((resolve) => {
  const probe = createServer().listen(0, "127.0.0.1", () => {
    const address = probe.address();
    probe.close(() => resolve(typeof address === "object" && address ? address.port : 0));
  });
});

const answers = () =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });

process.argv.push(`--port=${port}`, "--headless");
await import(new URL("../peers/node_modules/@portkey-ai/gateway/build/start-server.js", import.meta.url).href);
while (!(await answers())) await sleep(20);
console.log(`portkey listens on 127.0.0.1:${port}`);
