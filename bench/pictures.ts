/**
 * Memory of the server and its picture process while they check and paint pictures of 2048×2048, one at a time and four at
 * a time, and the memory of idle event streams.
 *
 *     node bench/pictures.ts [pictures]
 */
import { once } from "node:events";
import { createServer, get, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import sharp from "sharp";
import { adminKey, serveGantry } from "./support/gantry.ts";
import { median } from "./support/median.ts";
import { cpuSecondsOf, serve } from "./support/processes.ts";
import { heldMegabytes, residentMegabytes } from "./support/resident.ts";
import { verdict } from "./support/verdict.ts";

const pictures = Number(process.argv[2] ?? 500);
const streams = 1000;
const settleMs = 3000;
const headers = { "x-api-key": adminKey };
const upstream = await serve(new URL("./support/instant-upstream.ts", import.meta.url));
const gantry = await serveGantry();

async function call(
  { port }: { port: number },
  method: string,
  path: string,
  body: object | FormData,
): Promise<Response> {
  const isForm = body instanceof FormData;
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: isForm ? headers : { ...headers, "content-type": "application/json" },
    body: isForm ? body : JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return response;
}

/** A photograph's worth of detail: smooth shapes with noise. */
async function makeInputs(): Promise<File[]> {
  const side = 2048;
  const noise = { type: "gaussian", mean: 128, sigma: 40 } as const;
  const pixels = await sharp({ create: { width: side, height: side, channels: 3, background: "#446688", noise } })
    .blur(3)
    .raw()
    .toBuffer();
  const raw = { width: side, height: side, channels: 3 } as const;
  return Promise.all(
    (["jpeg", "png", "webp"] as const).map(async (format) => {
      const bytes = await sharp(pixels, { raw }).toFormat(format).toBuffer();
      return new File([Uint8Array.from(bytes)], `input.${format}`);
    }),
  );
}

const inputs = await makeInputs();
const inputOf = (index: number) => inputs[index % inputs.length] as File;

async function inspect(index: number): Promise<void> {
  const form = new FormData();
  form.set("picture", inputOf(index));
  await (await call(gantry, "POST", "/api/v1/admin/viewer/predict", form)).arrayBuffer();
}

async function paint(index: number): Promise<void> {
  const form = new FormData();
  form.set("prompt", `a lighthouse above a quiet harbour, picture ${index}`);
  form.set("size", "2048x2048");
  // A fifth of the pictures has a reference.
  if (index % 5 === 0) form.set("image", inputOf(index));
  await (await call(gantry, "POST", "/api/v1/gantry/image/predict", form)).arrayBuffer();
}

interface Sample {
  server: number;
  all: number;
}
const samples: Sample[] = [];
const sample = (): Sample => ({ server: residentMegabytes(gantry.pid), all: heldMegabytes(gantry.pid) });
const show = ({ server, all }: Sample) =>
  `server ${server.toFixed(0)} MB resident, with its picture process ${all.toFixed(0)} MB`;

async function work(what: string, count: number, atOnce: number, one: (index: number) => Promise<void>) {
  let next = 0;
  const tookMs: number[] = [];
  const cpu = cpuSecondsOf(gantry.pid);
  const user = async () => {
    while (next < count) {
      const index = next++;
      const startedAt = performance.now();
      await one(index);
      tookMs.push(performance.now() - startedAt);
      samples.push(sample());
    }
  };
  await Promise.all(Array.from({ length: atOnce }, user));
  const cpuMs = ((cpuSecondsOf(gantry.pid) - cpu) / count) * 1000;
  console.log(
    `${count} ${what}, ${atOnce} at a time: ${show(sample())}; ` +
      `p50 ${median(tookMs).toFixed(0)} ms, CPU ${cpuMs.toFixed(0)} ms each`,
  );
}

/** Kilobytes for each stream. Streams that were opened and closed before take the one-time costs. */
async function measureStreams(): Promise<number> {
  // Never answers, so that a run of its model stays as it is.
  const silent = createServer().listen(0, "127.0.0.1");
  await once(silent, "listening");
  const server = await serveGantry();
  try {
    const text = { type: "string" };
    await server.putModel("silent", {
      ...{ title: "Silent", kind: "text", visibility: "public", capacity: 10, pricing: {} },
      input: { type: "object", properties: { prompt: text }, required: ["prompt"] },
      output: { type: "object", properties: { output: { ...text, isStream: true } } },
      backend: {
        type: "openai-chat",
        url: `http://127.0.0.1:${(silent.address() as AddressInfo).port}/v1`,
        model: "silent",
      },
    });
    const create = async (path: string, body: object) =>
      (await (await call(server, "POST", path, body)).json()) as Record<string, unknown>;
    const agent = await create("/v1/agents", { name: "Silent", goal: "Wait.", tools: [], model: "admin/silent" });
    await create(`/v1/agents/${agent.id}/publish`, {});
    const run = await create(`/v1/agents/${agent.id}/runs`, { input: {} });
    const events = `http://127.0.0.1:${server.port}/v1/runs/${run.id}/events`;
    await closeStreams(await openStreams(events));
    const before = residentMegabytes(server.pid);
    const opened = await openStreams(events);
    await sleep(settleMs);
    const growth = residentMegabytes(server.pid) - before;
    await closeStreams(opened);
    return (growth * 1000) / streams;
  } finally {
    await server.stop();
    silent.closeAllConnections();
    silent.close();
  }
}

async function openStreams(url: string): Promise<IncomingMessage[]> {
  const opened: IncomingMessage[] = [];
  const open = async () => {
    const [response] = await once(get(url, { headers, agent: false }), "response");
    if (response.statusCode !== 200) throw new Error(`An event stream was refused with ${response.statusCode}`);
    response.resume();
    opened.push(response);
  };
  for (let at = 0; at < streams; at += 50) await Promise.all(Array.from({ length: 50 }, open));
  return opened;
}

async function closeStreams(opened: IncomingMessage[]): Promise<void> {
  for (const response of opened) response.destroy();
  await sleep(settleMs);
}

try {
  await gantry.putModel("viewer", {
    ...{ title: "Viewer", kind: "other", visibility: "public", capacity: 10, pricing: {} },
    input: {
      type: "object",
      properties: { picture: { type: "string", format: "binary", "x-media": "image" } },
      required: ["picture"],
    },
    output: { type: "object", properties: { output: { type: "string" } } },
    backend: { type: "cog", url: `http://127.0.0.1:${upstream.port}` },
  });
  console.log(`at the start: ${show(sample())}`);
  await work("checked", pictures / 2, 1, inspect);
  await work("checked", pictures / 2, 4, inspect);
  const painted = samples.length;
  await work("painted", pictures / 2, 1, paint);
  await work("painted", pictures / 2, 4, paint);
  const end = samples.slice(-20);
  verdict(`the server after ${pictures} pictures`, median(end.map(({ server }) => server)), "at most", 350, " MB");
  verdict(
    `the server and its picture process after ${pictures} pictures`,
    ...([median(end.map(({ all }) => all)), "at most", 350, " MB"] as const),
  );
  const fifth = pictures / 5;
  const partOf = (at: number) =>
    median(samples.slice(painted + at * fifth, painted + (at + 1) * fifth).map(({ all }) => all));
  verdict("memory in the last fifth compared with the second", partOf(4) / partOf(1), "at most", 1.15);
  verdict("the largest sample", Math.max(...samples.map(({ all }) => all)), "at most", 500, " MB");
} finally {
  await Promise.all([gantry.stop(), upstream.stop()]);
}
// On another server: streams would fit into memory that pictures have left behind.
verdict(`one of ${streams} idle event streams`, await measureStreams(), "at most", 30, " kB");
