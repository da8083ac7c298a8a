import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "../../src/engines/database/free-port.ts";
import { isAlive } from "../../src/engines/database/processes.ts";
import { type SlowCog, startSlowCog } from "../support/slow-cog.ts";
import { waitFor } from "../support/wait-for.ts";
import { adminKey, bodyOf, endEverything, postmasterOf, type ServerProcess, startServer } from "./server-process.ts";

/** mkdtemp creates it with mode 700, so other users cannot enter. */
let room: string;
let home: string;
let cog: SlowCog;
const started = new Set<ServerProcess>();
const homes = new Set<string>();

function start(env: Record<string, string> = {}): ServerProcess {
  const settings = { GANTRY_HOME: home, GANTRY_ADMIN_KEY: adminKey, GANTRY_ALLOW_PRIVATE_NETWORK: "1", ...env };
  homes.add(settings.GANTRY_HOME);
  const server = startServer(settings);
  started.add(server);
  return server;
}

async function stop(server: ServerProcess): Promise<void> {
  server.kill("SIGTERM");
  expect(await server.exit).toEqual({ code: 0, signal: null });
}

const call = (url: string, path: string, init: RequestInit = {}) =>
  fetch(url + path, { ...init, headers: { "x-api-key": adminKey, ...init.headers } });

function predict(url: string, model = "admin/slow", way = ""): Promise<Response> {
  const body = new FormData();
  body.append("prompt", "x");
  return call(url, `/api/v1/${model}/predict${way}`, { method: "POST", body });
}

async function putModel(url: string, name: string, backendUrl: string): Promise<void> {
  const text = { type: "string" };
  const answer = await call(url, `/api/v1/admin/${name}`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      title: name,
      description: "A model of the tests.",
      kind: "other",
      visibility: "private",
      capacity: 20,
      pricing: { per_request: 0.01 },
      input: { type: "object", required: ["prompt"], properties: { prompt: text } },
      output: { type: "object", required: ["output"], properties: { output: text } },
      backend: { type: "cog", url: backendUrl },
    }),
  });
  if (!answer.ok) throw new Error(await answer.text());
}

interface UsageRow {
  request_id: string;
  model_name: string;
  status: number;
  price: number;
}

async function usage(url: string, query = ""): Promise<UsageRow[]> {
  return (await bodyOf(await call(url, `/api/v2/usage${query}`))).results;
}

beforeAll(async () => {
  room = await mkdtemp(join(tmpdir(), "gantry-process-"));
  home = join(room, "home");
  cog = await startSlowCog();
});

afterEach(async () => {
  for (const server of started) server.kill("SIGKILL");
  cog.finishAll();
});

afterAll(async () => {
  await endEverything(started, homes);
  await cog.close();
  await rm(room, { recursive: true, force: true });
});

describe("starting", () => {
  test("the first time creates a home of mode 700 and shows the key once", {
    timeout: 90_000,
  }, async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const publicUrl = "https://g.example.com";
    const server = start({ PORT: String(port), GANTRY_ADMIN_KEY: "", GANTRY_PUBLIC_URL: publicUrl });
    const status = (path: string) =>
      fetch(url + path).then(
        (answer) => answer.status,
        () => 0,
      );
    await waitFor("the process to be up", async () => (await status("/healthz")) === 200, 30_000);
    const early = await fetch(`${url}/api/v2/me`);
    if (!server.stdout().includes("listens on")) {
      expect(await status("/readyz")).toBe(503);
      expect(early.status).toBe(503);
      expect(early.headers.get("x-service-retryable")).toBe("true");
      expect((await bodyOf(early)).detail[0]).toMatchObject({ type: "service_unavailable" });
    }
    await waitFor("the server to be ready", async () => (await status("/readyz")) === 200, 60_000);
    expect(await server.url()).toBe(url);
    await waitFor("the key", () => /^Admin API key/m.test(server.stdout()));
    expect(server.stdout()).toContain(`Console: ${publicUrl}/console/`);
    expect(server.stdout()).toContain(`Public URL for links: ${publicUrl}`);
    const [, token] = /^Sign in to .*: https:\/\/g\.example\.com\/console\/sign-in#(\S+)$/m.exec(server.stdout()) ?? [];
    const signedIn = await fetch(`${url}/console/api/session`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ token }),
    });
    expect(await signedIn.json()).toMatchObject({ username: "admin", role: "admin" });
    const keys = [...server.stdout().matchAll(/gk_[a-z0-9]{12}_[a-z0-9]+/g)].map(([key]) => key);
    expect(keys).toHaveLength(1);
    const me = await fetch(`${url}/api/v2/me`, { headers: { "x-api-key": keys[0] ?? "" } });
    expect(await me.json()).toMatchObject({ username: "admin", role: "admin", plan: "unlimited", balance: 100 });
    expect(server.stderr()).not.toContain(keys[0]);
    for (const name of [".", "postgres", "blobs", "spool"]) {
      expect((await stat(join(home, name))).mode & 0o077, name).toBe(0);
    }
    for (const entry of await readdir(home, { withFileTypes: true })) {
      if (!entry.isFile()) continue;
      expect((await stat(join(home, entry.name))).mode & 0o077, entry.name).toBe(0);
      expect(await readFile(join(home, entry.name), "utf8"), entry.name).not.toContain(keys[0]);
    }
    await stop(server);
    expect(await postmasterOf(home)).toBeUndefined();
  });

  test("again is ready and shows no key", { timeout: 90_000 }, async () => {
    const server = start({ GANTRY_ADMIN_KEY: "" });
    const url = await server.url();
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect(server.stdout()).not.toMatch(/gk_|sign-in#/);
    await stop(server);
  });

  test("stopped during its first start, it leaves no process and can start again", {
    timeout: 90_000,
  }, async () => {
    const other = join(room, "interrupted");
    const server = start({ GANTRY_HOME: other, GANTRY_ADMIN_KEY: "" });
    await waitFor("the database to be made", () => server.stdout().includes("Creating the database"), 30_000);
    await stop(server);
    expect(await postmasterOf(other)).toBeUndefined();
    const again = start({ GANTRY_HOME: other, GANTRY_ADMIN_KEY: "" });
    const url = await again.url();
    // Exactly one of the two created the key and showed it.
    const shown = () => `${server.stdout()}${again.stdout()}`.match(/gk_[a-z0-9]{12}_[a-z0-9]+/g) ?? [];
    await waitFor("the key to be shown", () => shown().length > 0);
    expect(shown()).toHaveLength(1);
    const me = await fetch(`${url}/api/v2/me`, { headers: { "x-api-key": shown()[0] ?? "" } });
    expect(me.status).toBe(200);
    await stop(again);
  });

  test("goes on without the readers of its output", { timeout: 90_000 }, async () => {
    const port = await freePort();
    const server = start({ PORT: String(port), GANTRY_HOME: join(room, "unread") });
    await waitFor("the first line", () => server.stdout() !== "", 30_000);
    server.closeOutput();
    const isReady = () =>
      fetch(`http://127.0.0.1:${port}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    await waitFor("the server to be ready", isReady, 60_000);
    await stop(server);
  });

  test("with wrong settings lists all of them and changes nothing", async () => {
    const other = join(room, "never-made");
    const server = start({
      GANTRY_HOME: other,
      PORT: "eighty",
      GANTRY_ADMIN_KEY: "short",
      GANTRY_ALLOW_PRIVATE_NETWORK: "perhaps",
      GANTRY_PUBLIC_URL: "ftp://example.test",
      DATABASE_URL: "mysql://example.test",
      GANTRY_SECRET_KEY: "c2hvcnQ=",
      GANTRY_LOG_LEVEL: "loud",
    });
    expect(await server.exit).toEqual({ code: 1, signal: null });
    const faults = server
      .stderr()
      .split("\n")
      .filter((line) => line.startsWith("  "));
    expect(faults.map((line) => line.trim().split(" ", 1)[0]).sort()).toEqual([
      "DATABASE_URL",
      "GANTRY_ADMIN_KEY",
      "GANTRY_ALLOW_PRIVATE_NETWORK",
      "GANTRY_LOG_LEVEL",
      "GANTRY_PUBLIC_URL",
      "GANTRY_SECRET_KEY",
      "PORT",
    ]);
    expect(server.stderr()).not.toMatch(/\bat .*\.ts:\d+/);
    expect(server.stdout()).toBe("");
    await expect(stat(other)).rejects.toThrow("ENOENT");
  });

  test("on a taken port says so and changes nothing", async () => {
    const other = join(room, "never-made-either");
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    try {
      const { port } = taken.address() as AddressInfo;
      const server = start({ GANTRY_HOME: other, PORT: String(port) });
      expect(await server.exit).toEqual({ code: 1, signal: null });
      expect(server.stderr()).toMatch(new RegExp(`^Port ${port} on 127\\.0\\.0\\.1 is in use.+\n$`));
      await expect(stat(other)).rejects.toThrow("ENOENT");
    } finally {
      taken.close();
    }
  });

  test("a second time on the same home is refused with one sentence, and the first keeps running", {
    timeout: 60_000,
  }, async () => {
    const first = start();
    const url = await first.url();
    const second = start();
    expect(await second.exit).toEqual({ code: 1, signal: null });
    expect(second.stderr()).toMatch(new RegExp(`^Another Gantry is running on .+ \\(process ${first.pid}\\)\\. .+\n$`));
    expect((await call(url, "/api/v2/me")).status).toBe(200);
    await stop(first);
  });
});

describe("stopping", () => {
  test("finishes running predictions, answers waiting clients, refuses new ones as retryable, and exits with 0", {
    timeout: 60_000,
  }, async () => {
    const server = start();
    const url = await server.url();
    await putModel(url, "slow", cog.url);
    const running = predict(url);
    const queued = await bodyOf(await predict(url, "admin/slow", "/async/"));
    await waitFor("the upstream calls", () => cog.open === 2);
    const waiting = fetch(`${queued.result_url}&wait=60`, { headers: { "x-api-key": adminKey } });
    await sleep(500);
    server.kill("SIGTERM");
    await waitFor("it to be stopping", () => server.stdout().includes("Stopping"));
    server.kill("SIGTERM");
    server.kill("SIGINT");
    const refused = await predict(url);
    expect(refused.status).toBe(503);
    expect(refused.headers.get("x-service-retryable")).toBe("true");
    expect(refused.headers.get("retry-after")).toBe("1");
    expect((await bodyOf(refused)).detail[0]).toMatchObject({ type: "service_unavailable" });
    expect((await fetch(`${url}/readyz`)).status).toBe(503);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect((await bodyOf(await waiting)).inference_responses[0].infer_details.status).toBe(202);
    expect(cog.open).toBe(2);
    const stillThere = /"level":30[^\n]+"Still stopping, waiting for: 2 predictions, 1 open response[^\n]*"/;
    await waitFor("it to say what it waits for", () => stillThere.test(server.stdout()), 15_000);
    cog.finishAll();
    const answer = await running;
    expect(answer.status).toBe(200);
    expect((await bodyOf(answer)).output_data).toEqual({ output: "done" });
    expect(await server.exit).toEqual({ code: 0, signal: null });
    expect(await postmasterOf(home)).toBeUndefined();
  });
});

describe("after a crash", () => {
  test("kill -9: the next start takes the database over and cancels unfinished predictions free of charge", {
    timeout: 60_000,
  }, async () => {
    const server = start();
    const url = await server.url();
    await putModel(url, "slow", cog.url);
    const cut = predict(url).catch((error: Error) => error);
    await waitFor("the upstream call", () => cog.open === 1);
    const orphan = await postmasterOf(home);
    server.kill("SIGKILL");
    expect((await server.exit).signal).toBe("SIGKILL");
    expect(await cut).toBeInstanceOf(Error);
    expect(await postmasterOf(home)).toBe(orphan);

    const next = start();
    const nextUrl = await next.url();
    expect(next.stdout()).toContain(`(process ${orphan})`);
    expect(await postmasterOf(home)).toBe(orphan);
    await waitFor(
      "the lost prediction to be ended",
      async () => {
        const [last] = await usage(nextUrl);
        return last?.model_name === "admin/slow" && last.status === 499 && last.price === 0;
      },
      20_000,
    );
    expect(await bodyOf(await call(nextUrl, "/api/v2/me"))).toMatchObject({ reserved: 0 });
    const again = predict(nextUrl);
    await waitFor("the slot to be free again", () => cog.open === 1);
    cog.finishOne();
    expect((await again).status).toBe(200);
    await stop(next);
    expect(await isAlive(orphan ?? 0)).toBe(false);
  });

  test("PostgreSQL killed under load: every answer is a success or a retryable 503, and the server recovers", {
    timeout: 90_000,
  }, async () => {
    const instant = createServer((request, response) => {
      request.resume();
      request.on("end", () => response.end(JSON.stringify({ status: "succeeded", output: "done" })));
    }).listen(0, "127.0.0.1");
    await once(instant, "listening");
    const server = start();
    const url = await server.url();
    await putModel(url, "instant", `http://127.0.0.1:${(instant.address() as AddressInfo).port}`);
    const done = new Set<string>();
    const others: string[] = [];
    let inARow = 0;
    let loading = true;
    const client = async () => {
      while (loading) {
        const answer = await predict(url, "admin/instant");
        const body = await bodyOf(answer);
        if (answer.status === 200) {
          done.add(body.prediction_id);
          inARow++;
          continue;
        }
        inARow = 0;
        others.push(`${answer.status} ${body.detail?.[0]?.type} ${answer.headers.get("x-service-retryable")}`);
        await sleep(20);
      }
    };
    const clients = Promise.all(Array.from({ length: 12 }, client));
    await waitFor("load", () => done.size > 50, 30_000);
    const killed = await postmasterOf(home);
    process.kill(killed ?? 0, "SIGKILL");
    await waitFor("another PostgreSQL", async () => ![undefined, killed].includes(await postmasterOf(home)), 30_000);
    inARow = 0;
    await waitFor("a hundred successes in a row", () => inARow > 100, 30_000);
    loading = false;
    await clients;
    instant.close();
    expect([...new Set(others)]).toEqual(others.length > 0 ? ["503 service_unavailable true"] : []);
    // Each successful answer is in the ledger once.
    const rows: UsageRow[] = [];
    await waitFor("every end to be written", async () => (await bodyOf(await call(url, "/api/v2/me"))).reserved === 0);
    for (let page = 1; ; page++) {
      const some = await usage(url, `?page_size=100&page=${page}`);
      rows.push(...some);
      if (some.length < 100) break;
    }
    const ids = rows.filter((row) => row.model_name === "admin/instant").map((row) => row.request_id);
    expect(new Set(ids).size).toBe(ids.length);
    expect([...done].filter((id) => !ids.includes(id))).toEqual([]);
    await stop(server);
  });
});
