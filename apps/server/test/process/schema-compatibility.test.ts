import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { oldestToKnow } from "../../src/compose/own-schema.ts";
import { call } from "../proof/client.ts";
import { clusterAdminKey } from "../support/cluster.ts";
import { testDatabase } from "../support/database.ts";
import { gantryCommand } from "../support/gantry-command.ts";
import { waitFor } from "../support/wait-for.ts";
import { endEverything, type ServerProcess, startServer } from "./server-process.ts";

/** The last commit of the released version. Its last migration is `oldestToKnow`; change both with each version. */
const released = "d56d8c726d5cc51dc27baa99be4fa139903b7cf9";

const root = fileURLToPath(new URL("../../../..", import.meta.url));
const startWithinMs = 180_000;
const servers: ServerProcess[] = [];
let room: string;
let checkout: string;
let own: Awaited<ReturnType<typeof testDatabase>>;
let hasHistory = true;

const git = (...args: string[]) =>
  execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

beforeAll(async () => {
  room = await mkdtemp(join(tmpdir(), "gantry-released-"));
  checkout = join(room, "checkout");
  own = await testDatabase("template0");
  try {
    git("worktree", "add", "--detach", checkout, released);
  } catch (error) {
    // A shallow clone.
    if (process.env.CI === "true") throw error;
    hasHistory = false;
    process.stderr.write(`SKIPPED: this clone does not contain ${released}, the released version. Fetch all history\n`);
    return;
  }
  await linkPackages();
}, 60_000);

afterAll(async () => {
  await endEverything(servers, []);
  await own.drop();
  if (hasHistory) git("worktree", "remove", "--force", checkout);
  await rm(room, { recursive: true, force: true });
}, 60_000);

/** The installed packages are shared; the workspaces must come from the other commit. */
async function linkPackages(): Promise<void> {
  const modules = join(checkout, "node_modules");
  await mkdir(join(modules, "@gantry"), { recursive: true });
  for (const entry of await readdir(join(root, "node_modules"))) {
    if (entry !== "@gantry") await symlink(join(root, "node_modules", entry), join(modules, entry));
  }
  for (const workspace of ["packages", "apps"]) {
    for (const name of await readdir(join(checkout, workspace))) {
      await symlink(join(checkout, workspace, name), join(modules, "@gantry", name));
    }
  }
}

/** All nodes share the home, for the secret key and the files. */
function start(version: "released" | "this", role: "all" | "api"): ServerProcess {
  const server = startServer(
    {
      DATABASE_URL: own.url,
      GANTRY_HOME: join(room, "home"),
      GANTRY_ADMIN_KEY: clusterAdminKey,
      GANTRY_ROLE: role,
      GANTRY_STOP_DELAY_SECONDS: "0",
    },
    [],
    version === "released" ? join(checkout, "apps/server/src/main.ts") : undefined,
  );
  servers.push(server);
  return server;
}

async function stop(server: ServerProcess): Promise<void> {
  server.kill("SIGTERM");
  expect(await server.exit, server.stdout()).toEqual({ code: 0, signal: null });
}

const image = "/api/v1/gantry/image/predict";
const form = { prompt: "a red drone", size: "1280x720" };

async function predict(url: string): Promise<void> {
  const answer = await call(url, "POST", image, { form });
  expect(answer.status, answer.text).toBe(200);
}

async function enqueue(url: string): Promise<string> {
  const answer = await call(url, "POST", `${image}/async/`, { form });
  expect(answer.status, answer.text).toBe(200);
  return answer.body.prediction_id;
}

async function untilDone(url: string, id: string): Promise<void> {
  let text = "";
  const isDone = async () => {
    const answer = await call(url, "GET", `${image}/async/result/?request_id=${id}`);
    text = answer.text;
    return answer.body?.inference_responses?.[0]?.infer_details?.status === 200;
  };
  await waitFor(`the result of ${id}`, isDone, 60_000).catch((error) => expect.fail(`${error}: ${text}`));
}

async function startRun(url: string, agent: string): Promise<string> {
  const run = await call(url, "POST", `/v1/agents/${agent}/runs`, { json: { input: {} } });
  expect(run.status, run.text).toBeLessThan(300);
  return run.body.id;
}

const endOf = async (url: string, run: string) => (await call(url, "GET", `/v1/runs/${run}?wait=60`)).body;

test("nodes of the released version and of this one share a database, before and after the upgrade", async (context) => {
  if (!hasHistory) return context.skip();
  const migrations = await readdir(join(checkout, "apps/server/migrations"));
  expect(
    migrations
      .filter((name) => name.endsWith(".sql"))
      .sort()
      .at(-1),
  ).toBe(oldestToKnow);

  const before = start("released", "api");
  const earlier = await before.url(startWithinMs);
  const json = { name: "Reckoner", goal: "Say hello.", tools: [], model: "gantry/rules" };
  const agent = (await call(earlier, "POST", "/v1/agents", { json })).body.id;
  expect((await call(earlier, "POST", `/v1/agents/${agent}/publish`, { json: {} })).status).toBe(200);
  await predict(earlier);
  const [queued, pending] = [await enqueue(earlier), await startRun(earlier, agent)];

  // Upgrades the database while the other node serves, and works on what that node has accepted.
  const upgraded = start("this", "all");
  const later = await upgraded.url(startWithinMs);
  for (const url of [earlier, later]) {
    await untilDone(url, queued);
    expect(await endOf(url, pending)).toMatchObject({ status: "done" });
    await predict(url);
  }
  await stop(upgraded);
  await stop(before);

  // Back one version: it works on what a node of this version accepts.
  const [back, beside] = [start("released", "all"), start("this", "api")];
  const [backUrl, besideUrl] = [await back.url(startWithinMs), await beside.url(startWithinMs)];
  const [queuedLater, pendingLater] = [await enqueue(besideUrl), await startRun(besideUrl, agent)];
  for (const url of [besideUrl, backUrl]) {
    await untilDone(url, queuedLater);
    expect(await endOf(url, pendingLater)).toMatchObject({ status: "done" });
    await predict(url);
  }
  const listed = await Promise.all([backUrl, besideUrl].map((url) => call(url, "GET", "/api/v2/usage")));
  expect(listed.map(({ body }) => body.total_count)).toEqual([
    listed[0]?.body.total_count,
    listed[0]?.body.total_count,
  ]);
  const verified = await gantryCommand(["ledger", "verify"], {
    DATABASE_URL: own.url,
    GANTRY_HOME: join(room, "home"),
  });
  expect([verified.code, verified.stderr]).toEqual([0, ""]);
}, 600_000);
