import { execFile } from "node:child_process";
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";

const checkout = fileURLToPath(new URL("../../../..", import.meta.url));
const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;
const otherUser = 65534;

/** An installation with the files that are read before the first package is needed. */
let place: string;

beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), "gantry-installation-"));
  await chmod(place, 0o755);
  for (const folder of ["scripts", "node_modules", "bin"]) await mkdir(join(place, folder));
  for (const file of ["package.json", "package-lock.json", "scripts/set-up.mjs"]) {
    await copyFile(join(checkout, file), join(place, file));
  }
  // An `npm` that records an attempt to install.
  await writeFile(join(place, "bin", "npm"), '#!/bin/sh\necho "$@" > "$(dirname "$0")/asked"\n', { mode: 0o755 });
  await chmod(join(place, "bin"), 0o777);
});
afterEach(() => rm(place, { recursive: true, force: true }));

/** npm's record of installed packages. */
async function install({ withDev, changed = {} }: { withDev: boolean; changed?: object }): Promise<void> {
  const { packages } = JSON.parse(await readFile(join(checkout, "package-lock.json"), "utf8"));
  const installed = Object.entries<{ dev?: boolean }>(packages).filter(([, { dev }]) => withDev || !dev);
  await writeFile(
    join(place, "node_modules", ".package-lock.json"),
    JSON.stringify({ packages: { ...Object.fromEntries(installed), ...changed } }),
  );
}

/** The way `npm start` and every `gantry` command begin. */
async function setUp(identity: { uid?: number } = {}) {
  const script = "import('./scripts/set-up.mjs').then((one) => console.log(one.setUp()))";
  const env = { PATH: `${join(place, "bin")}:/usr/bin:/bin` };
  const { stdout, stderr } = await run(process.execPath, ["-e", script], { cwd: place, env, ...identity }).catch(
    (error: { stdout: string; stderr: string }) => error,
  );
  const asked = await readFile(join(place, "bin", "asked"), "utf8").catch(() => undefined);
  return { stdout: stdout.trim(), stderr, asked };
}

test("the systemd steps create an installation that the command uses and never changes", async () => {
  await install({ withDev: false });
  const unmarked = await setUp();
  expect(unmarked.stderr).toContain("cannot be installed: the installation has no development packages");
  expect(unmarked.asked).toBeUndefined();

  const readme = await readFile(join(checkout, "deploy", "README.md"), "utf8");
  const step = /^(.*node_modules\/\.gantry-installed)$/m.exec(readme)?.[1];
  await run("sh", ["-c", String(step)], { cwd: place });
  const marked = await setUp();
  expect([marked.stdout, marked.asked]).toEqual([process.execPath, undefined]);
  const dockerfile = await readFile(join(checkout, "deploy", "Dockerfile"), "utf8");
  expect(dockerfile).toContain(step);

  // An upgrade without new packages.
  const lock = join(place, "package-lock.json");
  await writeFile(lock, `${await readFile(lock, "utf8")}\n`);
  expect((await setUp()).stderr).toContain("do not match package-lock.json");
});

test("a checkout is updated to its lock file, unless it is read-only", async () => {
  await install({ withDev: true, changed: { "node_modules/fastify": { version: "0.0.1" } } });
  expect((await setUp()).asked).toMatch(/^ci /);
  await rm(join(place, "bin", "asked"));
  await rm(join(place, "node_modules", ".gantry-installed"));

  for (const folder of [place, join(place, "node_modules")]) await chmod(folder, 0o555);
  try {
    const closed = await setUp(isRoot ? { uid: otherUser } : {});
    expect(closed.stderr).toContain("cannot be installed: the folder is not writable");
    expect(closed.asked).toBeUndefined();
    await expect(stat(join(place, "node_modules", ".gantry-installed"))).rejects.toThrow("ENOENT");
  } finally {
    for (const folder of [place, join(place, "node_modules")]) await chmod(folder, 0o755);
  }
});

test("packages of `npm ci` are not installed again, unless they differ", async () => {
  // As npm leaves it on this machine, without packages of other platforms.
  const real = JSON.parse(await readFile(join(checkout, "node_modules", ".package-lock.json"), "utf8"));
  // Workspaces have no version, whatever the lock file recorded for them.
  real.packages["packages/cli"].version = undefined;
  const written = join(place, "node_modules", ".package-lock.json");
  await writeFile(written, JSON.stringify(real));
  expect(await setUp()).toEqual({ stdout: process.execPath, stderr: "", asked: undefined });

  const { "node_modules/fastify": fastify, ...others } = real.packages;
  const needed = Object.entries<{ optional?: boolean }>(real.packages).filter(([, { optional }]) => !optional);
  const withoutOptional = Object.fromEntries(needed);
  for (const packages of [
    others,
    // `npm ci --omit=optional` also leaves out the packaged Node.
    withoutOptional,
    { ...real.packages, "node_modules/fastify": { ...fastify, integrity: "sha512-other" } },
    { ...real.packages, "node_modules/more": { version: "1.0.0" } },
  ]) {
    await rm(join(place, "bin", "asked"), { force: true });
    await rm(join(place, "node_modules", ".gantry-installed"), { force: true });
    await writeFile(written, JSON.stringify({ packages }));
    expect((await setUp()).asked).toMatch(/^ci /);
  }
});

test("parallel steps fail if one fails, whatever ends later", async () => {
  await install({ withDev: true });
  const ending = (code: number, ms: number) => ["sh", "-c", `sleep ${ms / 1000}; exit ${code}`];
  const script = `import('./scripts/set-up.mjs').then((one) => one.main(() => ${JSON.stringify([ending(3, 0), ending(0, 500)])}, 2))`;
  const failed = await run(process.execPath, ["-e", script], { cwd: place }).catch((error: { code: number }) => error);
  expect(failed).toMatchObject({ code: 3 });
});
