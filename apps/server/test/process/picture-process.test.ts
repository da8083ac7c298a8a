import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isAlive } from "../../src/engines/database/processes.ts";
import { waitFor } from "../support/wait-for.ts";
import { adminKey, endEverything, type ServerProcess, startServer } from "./server-process.ts";

let home: string;
let server: ServerProcess;
let pid: number;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "gantry-pictures-"));
  server = startServer({ GANTRY_HOME: home, GANTRY_ADMIN_KEY: adminKey });
  expect((await paint()).status).toBe(200);
  [pid = 0] = await pictureProcesses();
  expect(pid).toBeGreaterThan(0);
});
afterEach(async () => {
  await endEverything([server], [home]);
  await rm(home, { recursive: true, force: true });
});

async function paint(): Promise<Response> {
  const form = new FormData();
  form.set("prompt", "a quiet harbour");
  return fetch(`${await server.url()}/api/v1/gantry/image/predict`, {
    method: "POST",
    headers: { "x-api-key": adminKey },
    body: form,
  });
}

/** Of this server, by its parent and its program. */
async function pictureProcesses(): Promise<number[]> {
  const found: number[] = [];
  for (const name of (await readdir("/proc")).filter((entry) => /^\d+$/.test(entry))) {
    const stat = await readFile(`/proc/${name}/stat`, "utf8").catch(() => "");
    const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
    const command = await readFile(`/proc/${name}/cmdline`, "utf8").catch(() => "");
    if (parent === server.pid && command.includes("picture.process")) found.push(Number(name));
  }
  return found;
}

test("a picture process ends with a server that is killed while it paints", async () => {
  const cut = paint().catch(() => "cut");
  await new Promise((resolve) => setTimeout(resolve, 300));
  server.kill("SIGKILL");
  await server.exit;
  await waitFor("the picture process to end", async () => !(await isAlive(pid)), 30_000);
  expect(await cut).toBe("cut");
});

test("a signal to all processes lets the picture under way end", async () => {
  const painted = paint();
  await new Promise((resolve) => setTimeout(resolve, 300));
  for (const each of [pid, server.pid]) process.kill(each, "SIGTERM");
  expect((await painted).status).toBe(200);
  await server.exit;
  await waitFor("the picture process to end", async () => !(await isAlive(pid)), 30_000);
});
