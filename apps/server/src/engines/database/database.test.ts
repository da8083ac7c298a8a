import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import { connect } from "./connect.ts";
import { databaseContract } from "./database.contract.ts";
import { connectExternalDatabase, type EmbeddedDatabase, startEmbeddedDatabase } from "./index.ts";

let home: string;
let embedded: EmbeddedDatabase;
let external: Awaited<ReturnType<typeof testDatabase>>;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "gantry-contract-"));
  [embedded, external] = await Promise.all([startEmbeddedDatabase({ home }), testDatabase()]);
});

afterAll(async () => {
  await Promise.all([embedded.close(), external.drop()]);
  await rm(home, { recursive: true, force: true });
});

databaseContract("embedded", async (options) => connect({ ...options, url: embedded.url }));
databaseContract("external", (options) => connectExternalDatabase({ ...options, url: external.url }));
