import { setTimeout as sleep } from "node:timers/promises";
import { adminKey } from "../gantry.ts";
import { cpuSecondsOf } from "../processes.ts";
import { residentMegabytes } from "../resident.ts";
import type { Client, Dimension, Operation } from "./dimension.ts";
import { type Cost, connectTo, openMeter } from "./meter.ts";
import { serveHome } from "./serve-home.ts";
import { startUpstream } from "./upstream.ts";

export interface EndFigures {
  costs: Map<string, Cost>;
  /** Of the server process, after all operations. */
  megabytes: number;
}

export const startName = "start of the server";
export const backgroundName = "background work of two minutes";
const usualCalls = 30;
const warmUps = 6;
/** Retention begins one to two minutes after the start. */
const backgroundMs = 125_000;

/** Measures all operations of a dimension in a filled home. */
export async function measureEnd(home: string, dimension: Dimension, size: number): Promise<EndFigures> {
  const upstream = await startUpstream();
  const startedAt = performance.now();
  const gantry = await serveHome(home, dimension);
  const readyMs = performance.now() - startedAt;
  const cpuMs = cpuSecondsOf(gantry.pid) * 1000;
  const meter = await openMeter(home, gantry.pid);
  const database = await connectTo(home, "gantry");
  const costs = new Map<string, Cost>([[startName, { ms: readyMs, cpuMs, pages: await meter.allPages() }]]);
  const client: Client = { upstream, database, call: callsTo(gantry.port) };
  try {
    await dimension.fillLive?.(client, size);
    for (const operation of dimension.operations(size)) {
      costs.set(operation.name, await measureOne(operation));
      const { ms, cpuMs: cpu, pages } = costs.get(operation.name) as Cost;
      console.log(
        `  ${dimension.name} ${size}: ${operation.name.padEnd(40)} ${ms.toFixed(1).padStart(8)} ms  CPU ${cpu.toFixed(1).padStart(7)} ms  ${pages.toFixed(0).padStart(7)} pages`,
      );
    }
    if (process.argv.includes("--background")) {
      await meter.reset();
      await sleep(backgroundMs);
      costs.set(backgroundName, { ms: Number.NaN, cpuMs: Number.NaN, pages: await meter.allPages() });
    }
    return { costs, megabytes: residentMegabytes(gantry.pid) };
  } catch (error) {
    console.error(gantry.output().slice(-3000));
    throw error;
  } finally {
    await meter.reset();
    await meter.close();
    await database.close();
    await gantry.stop();
    await upstream.close();
  }

  async function measureOne({ calls = usualCalls, prepare, run }: Operation): Promise<Cost> {
    const warm = Math.min(warmUps, calls);
    const items = (await prepare?.(client, warm + calls)) ?? [];
    let n = 0;
    const call = () => run(client, items[n] ?? "", n++);
    if (calls > 1) while (n < warm) await call();
    return meter.measure(calls, call);
  }
}

function callsTo(port: number): Client["call"] {
  return async (method, path, { body, form, key = adminKey, status } = {}) => {
    const sent = form ? formOf(form) : typeof body === "string" || body === undefined ? body : JSON.stringify(body);
    const type =
      form || body === undefined
        ? {}
        : { "content-type": typeof body === "string" ? "text/plain" : "application/json" };
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { "x-api-key": key, ...type },
      ...(sent !== undefined && { body: sent }),
    });
    const text = await response.text();
    if (!response.ok && response.status !== status) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return response.headers.get("content-type")?.includes("json") ? JSON.parse(text) : text;
  };
}

function formOf(fields: Record<string, string | Blob>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value as string);
  return form;
}
