/**
 * Memory of the server during large files, endless bodies, a decompression bomb and a thousand readers, and the memory that
 * programs of agents can use before they are stopped.
 */
import { once } from "node:events";
import { get, request } from "node:http";
import sharp from "sharp";
import { createQuickjsSandbox } from "../apps/server/src/engines/sandbox/quickjs-sandbox.ts";
import { adminKey, serveGantry } from "./support/gantry.ts";
import { serve } from "./support/processes.ts";
import { growthDuring } from "./support/resident.ts";
import { verdict } from "./support/verdict.ts";

const largest = 100 * 1024 * 1024;
const endless = 2 ** 31;
const formType = "multipart/form-data; boundary=b";

const upstream = await serve(new URL("./support/agent-upstream.ts", import.meta.url));
const gantry = await serveGantry();
const base = `http://127.0.0.1:${gantry.port}`;

async function call(method: string, path: string, body: object): Promise<Record<string, unknown>> {
  const headers = { "x-api-key": adminKey, "content-type": "application/json" };
  const response = await fetch(base + path, { method, headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as Record<string, unknown>;
}

/** Generated while they are sent, so that they are never in memory as a whole. */
function* zeros(bytes: number): Generator<Buffer> {
  const block = Buffer.alloc(262_144);
  for (let sent = 0; sent < bytes; sent += block.length) yield block.subarray(0, Math.min(block.length, bytes - sent));
}

function* fileForm(bytes: Iterable<Buffer>, fields: Record<string, string> = {}, name = "file"): Generator<Buffer> {
  for (const [field, value] of Object.entries(fields))
    yield Buffer.from(`--b\r\nContent-Disposition: form-data; name="${field}"\r\n\r\n${value}\r\n`);
  yield Buffer.from(`--b\r\nContent-Disposition: form-data; name="${name}"; filename="f.bin"\r\n\r\n`);
  yield* bytes;
  yield Buffer.from("\r\n--b--\r\n");
}

async function send(method: string, path: string, type: string, pieces: Iterable<Buffer>, expected: number) {
  const outgoing = request(base + path, { method, headers: { "x-api-key": adminKey, "content-type": type } });
  const answered = once(outgoing, "response");
  answered.catch(() => {});
  let isAnswered = false;
  outgoing.once("response", () => {
    isAnswered = true;
  });
  // The server closes the connection of a refused sender.
  outgoing.on("error", () => {});
  for (const piece of pieces) {
    if (isAnswered) break;
    if (!outgoing.write(piece)) await Promise.race([once(outgoing, "drain"), answered]);
  }
  outgoing.end();
  const [response] = await answered;
  let body = "";
  for await (const chunk of response) body += chunk;
  if (response.statusCode !== expected) throw new Error(`${method} ${path}: ${response.statusCode} ${body}`);
}

async function download(path: string): Promise<void> {
  const response = await fetch(base + path, { headers: { "x-api-key": adminKey } });
  let size = 0;
  for await (const piece of response.body ?? []) size += piece.length;
  if (size !== largest) throw new Error(`${path}: ${size} bytes came back`);
}

async function readEvents(path: string): Promise<void> {
  const outgoing = get(base + path, { headers: { "x-api-key": adminKey }, agent: false });
  const [response] = await once(outgoing, "response");
  let last = "";
  for await (const chunk of response.setEncoding("utf8")) last = chunk;
  if (!last.includes("event: completed")) throw new Error(`a reader did not receive the end: ${last}`);
}

try {
  const files = `/v1/drives/${(await call("POST", "/v1/drives", { name: "large" })).id}/files`;
  const upload = (path: string, bytes: number, expected = 201) =>
    send("POST", files, formType, fileForm(zeros(bytes), { path }), expected);
  const replace = (path: string, bytes: number, expected = 200) =>
    send("PUT", files + path, "application/octet-stream", zeros(bytes), expected);
  await upload("/warm", 30_000_000);

  const paths = ["/1", "/2", "/3", "/4"];
  const drives = await growthDuring(gantry.pid, async () => {
    await Promise.all(paths.map((path) => upload(path, largest)));
    await Promise.all(paths.map((path) => replace(path, largest)));
    await Promise.all(paths.map((path) => download(files + path)));
  });
  verdict("more memory while four files of 100 MB go up, are replaced and go down", drives, "at most", 90, " MB");

  const cutOff = await growthDuring(gantry.pid, async () => {
    await replace("/warm", endless, 413);
    await upload("/endless", endless, 413);
    await send("POST", "/api/v1/gantry/image/upload_file", formType, fileForm(zeros(endless)), 422);
  });
  verdict("more memory while three bodies without an end are cut off", cutOff, "at most", 100, " MB");

  const bomb = await sharp({ create: { width: 12_000, height: 12_000, channels: 3, background: "black" } })
    .png({ compressionLevel: 9 })
    .toBuffer();
  const unpacked = await growthDuring(gantry.pid, () =>
    send("POST", "/api/v1/gantry/image/predict", formType, fileForm([bomb], { prompt: "x" }, "image"), 422),
  );
  verdict("more memory while a picture of 144 megapixels is refused", unpacked, "at most", 200, " MB");

  const text = { type: "string" };
  await gantry.putModel("mock", {
    ...{ title: "Mock", kind: "text", visibility: "public", capacity: 10, pricing: {} },
    input: { type: "object", properties: { prompt: text }, required: ["prompt"] },
    output: { type: "object", properties: { output: { ...text, isStream: true } } },
    backend: { type: "openai-chat", url: `http://127.0.0.1:${upstream.port}/v1`, model: "mock" },
  });
  const agent = await call("POST", "/v1/agents", {
    ...{ name: "Weather", goal: "Find out the weather.", tools: ["http_request"], model: "admin/mock" },
  });
  await call("POST", `/v1/agents/${agent.id}/publish`, {});
  const run = await call("POST", `/v1/agents/${agent.id}/runs`, { input: {} });
  const startedAt = performance.now();
  const readers = await growthDuring(gantry.pid, () =>
    Promise.all(Array.from({ length: 1000 }, () => readEvents(`/v1/runs/${run.id}/events`))),
  );
  verdict("more memory while 1,000 readers follow one run", readers, "at most", 200, " MB");
  verdict("time until all 1,000 have its end", (performance.now() - startedAt) / 1000, "at most", 15, " s");
} finally {
  await Promise.all([gantry.stop(), upstream.stop()]);
}

const sandbox = createQuickjsSandbox({ cpuMs: 400, wallMs: 3000 });
const { signal } = new AbortController();
for (const code of [
  "const a = []; for (;;) a.push(new Array(1000).fill(1))",
  "'x'.repeat(500e6)",
  "new Uint8Array(1e9)",
  "let s = 'x'; for (;;) s += s",
  "let n = 2n; for (;;) n = n * n",
]) {
  const growth = await growthDuring(process.pid, () => sandbox.run(code, { userId: "usr_a", input: null, signal }));
  verdict(`more memory for the program "${code}"`, growth, "at most", 300, " MB");
}
await sandbox.close();
