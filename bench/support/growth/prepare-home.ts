import { ownSchema } from "../../../apps/server/src/compose/own-schema.ts";
import { migrate, startEmbeddedDatabase } from "../../../apps/server/src/engines/database/index.ts";
import { openAccounts } from "../../../apps/server/src/features/accounts/index.ts";
import { systemClock } from "../../../apps/server/src/kernel/clock.ts";
import { createLog } from "../../../apps/server/src/kernel/log.ts";
import { adminKey } from "../gantry.ts";
import { createIdFunction, type Dimension } from "./dimension.ts";
import { countStatements } from "./meter.ts";
import { serveHome } from "./serve-home.ts";

/** Creates a home with so many rows, whose PostgreSQL counts statements from its next start. */
export async function prepareHome(home: string, dimension: Dimension, size: number): Promise<void> {
  const database = await startEmbeddedDatabase({ home, deadlineMs: 3_600_000 });
  try {
    await migrate(database, ownSchema);
    const accounts = await openAccounts({ database, clock: systemClock, log: createLog("silent") });
    const { adminId } = await accounts.bootstrap(adminKey);
    await accounts.close();
    await createIdFunction(database);
    await dimension.fill(database, size, adminId);
    await database.session((session) => session`vacuum analyze`, { deadlineMs: 3_600_000 });
    await countStatements(home);
  } finally {
    await database.close();
  }
  // The first start also creates the built-in models.
  await (await serveHome(home, dimension)).stop();
}
