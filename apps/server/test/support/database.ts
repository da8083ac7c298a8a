import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { inject } from "vitest";
import { migrationsDir, ownSchema } from "../../src/compose/own-schema.ts";
import { connect, type Database, migrate } from "../../src/engines/database/index.ts";

export { migrationsDir, ownSchema };

const template = "gantry_template";

/** Called once by global-setup.ts. */
export async function prepareTemplate(admin: Database, url: string): Promise<void> {
  await admin.sql.unsafe(`create database ${template}`);
  const database = connect({ url: `${url}/${template}`, poolSize: 1 });
  await migrate(database, ownSchema).finally(() => database.close());
}

/** Kept open until the worker ends. */
let admin: Database | undefined;

async function create(from = template): Promise<{ url: string; name: string; drop(): Promise<void> }> {
  const server = inject("postgresUrl");
  const trouble = inject("databaseTrouble");
  if (trouble) throw new Error(trouble);
  const name = `test_${randomBytes(8).toString("hex")}`;
  admin ??= connect({ url: `${server}/postgres`, poolSize: 2, deadlineMs: 60_000 });
  const { sql } = admin;
  for (let attempt = 1; ; attempt++) {
    try {
      await sql.unsafe(`create database ${name} template ${from} strategy file_copy`);
      break;
    } catch (error) {
      // 55006: another worker is copying the template.
      const busy = error instanceof Error && "code" in error && error.code === "55006";
      if (!busy || attempt === 50) throw error;
      await sleep(20 + Math.random() * 100);
    }
  }
  return {
    url: `${server}/${name}`,
    name,
    drop: async () => void (await sql.unsafe(`drop database if exists ${name} with (force)`)),
  };
}

interface TestDatabase {
  database: Database;
  url: string;
  drop(): Promise<void>;
}

/** A database with prepared content, to be copied with `testDatabase(name)`. */
export async function testTemplate(
  prepare: (database: Database) => Promise<void>,
): Promise<{ name: string; drop(): Promise<void> }> {
  const { url, name, drop } = await create();
  const database = connect({ url, poolSize: 2 });
  await prepare(database).finally(() => database.close());
  return { name, drop };
}

/** A fresh, migrated database. Call `drop` when done; it also closes the connection. */
export async function testDatabase(from?: string): Promise<TestDatabase> {
  const { url, drop } = await create(from);
  const database = connect({ url, poolSize: 10 });
  return {
    database,
    url,
    async drop() {
      await database.close();
      await drop();
    },
  };
}

/** The address of a fresh, migrated database for a server that connects itself. Removed after the test run. */
export async function testDatabaseUrl(): Promise<string> {
  return (await create()).url;
}
