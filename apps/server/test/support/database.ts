import { randomBytes } from "node:crypto";
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

async function create(): Promise<{ url: string; drop(): Promise<void> }> {
  const server = inject("postgresUrl");
  const trouble = inject("databaseTrouble");
  if (trouble) throw new Error(trouble);
  const name = `test_${randomBytes(8).toString("hex")}`;
  const asAdmin = async (statement: string): Promise<void> => {
    const admin = connect({ url: `${server}/postgres`, poolSize: 1, deadlineMs: 60_000 });
    try {
      await admin.sql.unsafe(statement);
    } finally {
      await admin.close();
    }
  };
  for (let attempt = 1; ; attempt++) {
    try {
      await asAdmin(`create database ${name} template ${template} strategy file_copy`);
      break;
    } catch (error) {
      // 55006: another worker is copying the template.
      const busy = error instanceof Error && "code" in error && error.code === "55006";
      if (!busy || attempt === 50) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * 100));
    }
  }
  return { url: `${server}/${name}`, drop: () => asAdmin(`drop database if exists ${name} with (force)`) };
}

/** A fresh, migrated database. Call `drop` when done; it also closes the connection. */
export async function testDatabase(): Promise<{ database: Database; url: string; drop(): Promise<void> }> {
  const { url, drop } = await create();
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
