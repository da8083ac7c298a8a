// Runs the cases of the scripted Cog server against a real one, by hand: scripts/cog-check PATH
// PATH is a checkout of replicate/cog with a Python server (0.8 to 0.16). Its Python needs fastapi, uvicorn, structlog and
// the other requirements of Cog; set PYTHON and PYTHONPATH if they are not those of python3.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { cogCases } from "../apps/server/src/engines/models/test-upstreams/cog-cases.ts";
import { cogPredictors } from "../apps/server/src/engines/models/test-upstreams/cog-predictors.ts";
import { createNet } from "../apps/server/src/engines/net/create-net.ts";

const source = join(resolve(process.argv[2] ?? ""), "python");
const server = join(source, "cog/server/http.py");
if (process.argv[2] === undefined || !existsSync(server)) {
  console.error("Usage: scripts/cog-check PATH, where PATH is a checkout of replicate/cog with a Python server.");
  process.exit(2);
}
const serverText = readFileSync(server, "utf8");
const hasHost = serverText.includes("--host");
/** From 0.9 to 0.13 a synchronous prediction blocks every other request. */
const isBlocking = serverText.includes("predict_task.wait()");

const imports = `import pathlib, tempfile, time
from typing import Any, Iterator, List
from cog import BasePredictor, Path
`;
/** Servers without --host listen on all interfaces. */
const onLoopback = `import runpy, uvicorn
start = uvicorn.Config.__init__
def on_loopback(self, *args, **options):
    options["host"] = "127.0.0.1"
    start(self, *args, **options)
uvicorn.Config.__init__ = on_loopback
runpy.run_module("cog.server.http", run_name="__main__", alter_sys=True)
`;

async function freePort() {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address();
  probe.close();
  await once(probe, "close");
  return port;
}

async function startServer(name) {
  const folder = await mkdtemp(join(tmpdir(), "cog-check-"));
  const port = await freePort();
  await writeFile(join(folder, "cog.yaml"), 'build:\n  python_version: "3.11"\npredict: "predict.py:Predictor"\n');
  await writeFile(join(folder, "predict.py"), `${imports}\n${cogPredictors[name].python}\n`);
  await writeFile(join(folder, "serve.py"), onLoopback);
  const program = hasHost ? ["-m", "cog.server.http", "--host=127.0.0.1"] : ["serve.py"];
  const child = spawn(process.env.PYTHON ?? "python3", [...program, "--await-explicit-shutdown=true"], {
    cwd: folder,
    env: {
      ...process.env,
      PORT: String(port),
      PYTHONPATH: [source, process.env.PYTHONPATH].filter(Boolean).join(":"),
      COG_LOG_LEVEL: "warning",
    },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let log = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (log += text));
  const url = `http://127.0.0.1:${port}`;
  for (let tries = 0; tries < 300; tries++) {
    if (child.exitCode !== null) throw new Error(`The server did not start:\n${log.slice(-2000)}`);
    if (
      await fetch(`${url}/health-check`).then(
        () => true,
        () => false,
      )
    )
      break;
    await sleep(100);
  }
  const kill = () => {
    // The server has child processes in its own group.
    if (child.exitCode === null) process.kill(-child.pid, "SIGKILL");
  };
  const leave = () => {
    kill();
    process.exit(1);
  };
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, leave);
  return {
    url,
    log: () => log,
    async stop() {
      for (const signal of ["SIGINT", "SIGTERM"]) process.off(signal, leave);
      kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const spoolFolder = await mkdtemp(join(tmpdir(), "cog-check-spool-"));
const net = createNet({ allowPrivateNetwork: true });
let differences = 0;
for (const name of Object.keys(cogPredictors)) {
  const cases = cogCases.filter((one) => one.predictor === name);
  const cog = await startServer(name).catch((error) => error);
  if (cog instanceof Error) {
    if (!cog.message.includes("Unsupported input type")) throw cog;
    for (const one of cases) console.log(`skipped    ${one.name}: this Cog has no such input type`);
    continue;
  }
  try {
    for (const one of cases) {
      if (one.isSkippedIfBlocking && isBlocking) {
        console.log(`skipped    ${one.name}: this Cog reads no request while a prediction runs`);
        continue;
      }
      const seen = await one.run({ url: cog.url, net, spoolFolder }).catch((error) => `${error}`);
      const isSame = isDeepStrictEqual(seen, one.expected);
      console.log(`${isSame ? "same     " : "DIFFERENT"}  ${one.name}`);
      if (isSame) continue;
      differences++;
      console.log(`           expected ${JSON.stringify(one.expected)}\n           seen     ${JSON.stringify(seen)}`);
      if (process.env.COG_CHECK_LOG) console.log(cog.log());
    }
  } finally {
    await cog.stop();
  }
}
await net.close();
await rm(spoolFolder, { recursive: true });
console.log(differences === 0 ? "All cases are the same." : `${differences} cases differ.`);
process.exitCode = differences === 0 ? 0 : 1;
