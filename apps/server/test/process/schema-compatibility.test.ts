import { execFileSync, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { oldestToKnow } from "../../src/compose/own-schema.ts";
import { migrate } from "../../src/engines/database/index.ts";
import { ownSchema, testDatabase } from "../support/database.ts";
import { waitFor } from "../support/wait-for.ts";

const root = fileURLToPath(new URL("../../../..", import.meta.url));
const baseline = "0001-baseline.sql";
const key = "admin-key-of-the-previous-commit-0123456789";

let room: string;
let checkout: string;
let hasHistory = true;

const git = (...args: string[]) =>
  execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

beforeAll(async () => {
  room = await mkdtemp(join(tmpdir(), "gantry-previous-"));
  checkout = join(room, "checkout");
  try {
    git("worktree", "add", "--detach", checkout, "HEAD~1");
  } catch (error) {
    if (process.env.CI === "true") throw error;
    hasHistory = false;
    process.stderr.write("SKIPPED: no earlier commit to run on the new schema\n");
    return;
  }
  await linkPackages();
});

afterAll(async () => {
  if (hasHistory) git("worktree", "remove", "--force", checkout);
  await rm(room, { recursive: true, force: true });
});

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

/** Only the commit that adds the baseline is incompatible with its predecessor. */
const knowsBaseline = (): boolean => existsSync(join(checkout, "apps/server/migrations", baseline));

test("the server of the commit before this one runs on the schema of this one, or refuses to", async (context) => {
  if (!hasHistory) return context.skip();
  const { database, url, drop } = await testDatabase();
  await migrate(database, ownSchema, { mustKnow: oldestToKnow });
  const child = spawn(process.execPath, [join(checkout, "apps/server/src/main.ts")], {
    env: {
      PATH: process.env.PATH ?? "",
      PORT: "0",
      DATABASE_URL: url,
      GANTRY_HOME: join(room, "home"),
      GANTRY_ADMIN_KEY: key,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  const ended = new Promise((resolve) => child.once("exit", resolve));
  try {
    await waitFor(`the old server to listen`, () => /listens on \S+/.test(output) || child.exitCode !== null, 60_000);
    if (!knowsBaseline()) {
      expect(await ended, output).toBe(1);
      expect(output).toContain(`it does not know the migration ${baseline}`);
      return;
    }
    const address = /listens on (\S+)/.exec(output)?.[1];
    expect(address, output).toBeDefined();
    const form = new FormData();
    form.append("prompt", "a red drone");
    form.append("size", "1280x720");
    const predicted = await fetch(`${address}/api/v1/gantry/image/predict`, {
      method: "POST",
      headers: { "x-api-key": key },
      body: form,
    });
    expect(predicted.status, await predicted.clone().text()).toBe(200);
    const usage = (await (await fetch(`${address}/api/v2/usage`, { headers: { "x-api-key": key } })).json()) as {
      total_count: number;
    };
    expect(usage.total_count).toBe(1);
  } finally {
    child.kill("SIGTERM");
    await ended;
    await drop();
  }
}, 120_000);
