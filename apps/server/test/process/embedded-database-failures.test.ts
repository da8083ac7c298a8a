import { mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { attachEmbeddedDatabase } from "../../src/engines/database/embedded.ts";
import { type EmbeddedDatabase, startEmbeddedDatabase } from "../../src/engines/database/index.ts";

/** All tests share one home; each leaves it intact. */
let room: string;
let home: string;
let running: EmbeddedDatabase | undefined;

beforeAll(async () => {
  room = await mkdtemp(join(tmpdir(), "gantry-lost-"));
  home = join(room, "home");
  await (await startEmbeddedDatabase({ home })).close();
}, 60_000);
afterEach(async () => {
  await running?.close();
  running = undefined;
});
afterAll(() => rm(room, { recursive: true, force: true }));

test("a lost or damaged server record is named, with what to do", async () => {
  const file = join(home, "postgres.json");
  const whole = await readFile(file);
  for (const damaged of ["", "{", "[]", '{"password": 1}']) {
    await writeFile(file, damaged);
    for (const open of [() => startEmbeddedDatabase({ home }), () => attachEmbeddedDatabase(home)]) {
      await expect(open(), damaged).rejects.toThrow(
        `${file} is damaged. The file contains the password of the database`,
      );
    }
  }
  await rm(file);
  await expect(startEmbeddedDatabase({ home })).rejects.toThrow(
    `${file} is missing. The file contains the password of the database in ${join(home, "postgres")}. Restore the file`,
  );
  await writeFile(file, whole, { mode: 0o600 });
  running = await startEmbeddedDatabase({ home });
  expect(await running.ready()).toBe(true);
});

test("a server that cannot restart logs the reason and the log file once, and recovers when the cause is gone", async () => {
  const told: string[] = [];
  running = await startEmbeddedDatabase({ home, onTrouble: (text) => told.push(text) });
  const control = join(home, "postgres", "global", "pg_control");
  await rename(control, `${control}.gone`);
  process.kill(running.pid, "SIGKILL");
  const failures = () => told.filter((text) => text.startsWith("PostgreSQL does not restart"));
  await expect.poll(failures, { timeout: 20_000 }).toHaveLength(1);
  expect(failures()[0]).toContain(`Its log ${join(home, "postgres.log")} ends with:`);
  expect(failures()[0]).toContain("pg_control");
  // Retried continuously, logged once.
  await sleep(3_000);
  expect(failures()).toHaveLength(1);
  await rename(`${control}.gone`, control);
  await expect.poll(() => running?.ready(), { timeout: 20_000 }).toBe(true);
  expect(told.at(-1)).toMatch(/^PostgreSQL runs again/);
}, 60_000);
