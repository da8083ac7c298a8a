import { openFilesystemBlobs } from "../../engines/blobs/filesystem.ts";
import { loadOrCreateSigningCredentials } from "../../engines/blobs/signing-credentials.ts";
import { connect, type Database } from "../../engines/database/index.ts";
import { openAccounts } from "../../features/accounts/index.ts";
import { type DrivesDeps, openDrives } from "../../features/drives/index.ts";
import { type KnowledgeDeps, openKnowledge } from "../../features/knowledge/index.ts";
import { systemClock } from "../../kernel/clock.ts";
import { createLog } from "../../kernel/log.ts";
import { createServer } from "../foundation/server.ts";
import { agentsApi } from "./agents-api.ts";
import { driveRoutes } from "./drive-routes.ts";

export const operatorKey = "operator-key-of-drive-tests-0123456789";

/** The drive routes on the real server base, a real database and the blob store on disk, listening. */
export async function serveDrives({
  database,
  home,
  ...overrides
}: { database: Database; home: string } & Partial<Pick<DrivesDeps, "clock" | "agentsUsingDrive">>) {
  const log = createLog("silent");
  const clock = overrides.clock ?? systemClock;
  const accounts = await openAccounts({ database, clock, log });
  await accounts.bootstrap(operatorKey);
  const credentials = await loadOrCreateSigningCredentials(home);
  const blobs = await openFilesystemBlobs({ home, bucket: "gantry", credentials });
  const deps: DrivesDeps = { database, blobs, clock, agentsUsingDrive: async () => [], ...overrides };
  const drives = openDrives(deps);
  // This node is not a worker, and needs no more to store the settings of an index.
  const given: Partial<KnowledgeDeps> = { database, blobs, log, parallel: 0 };
  const knowledge = await openKnowledge(given as KnowledgeDeps);
  const app = createServer({ log, publicUrl: undefined, authenticate: accounts.authenticate });
  await app.register(agentsApi, { log, routes: [driveRoutes(drives, knowledge)] });
  const url = await app.listen({ port: 0, host: "127.0.0.1" });
  return {
    url,
    drives,
    deps,
    blobs,
    accounts,
    async close() {
      await app.close();
      await accounts.close();
      await blobs.close();
    },
  };
}

export type DriveServer = Awaited<ReturnType<typeof serveDrives>>;

// As a process of its own, so that its memory can be measured: `node drive-server.fixture.ts <database url> <home>`.
if (import.meta.main) {
  const [databaseUrl = "", home = ""] = process.argv.slice(2);
  const { url } = await serveDrives({ database: connect({ url: databaseUrl }), home });
  process.stdout.write(`${url}\n`);
}
