import type { Database } from "../engines/database/database.ts";
import { type ExportPart, type Exports, openExports } from "../features/exports/index.ts";
import { type AccountPartDeps, accountParts } from "../http/exports/account-parts.ts";
import { type WorkPartDeps, workParts } from "../http/exports/work-parts.ts";
import type { Log } from "../kernel/log.ts";

interface ExportDeps extends AccountPartDeps, WorkPartDeps {
  database: Database;
  log: Log;
  agentParts: readonly ExportPart[];
}

/** Everything that the server has of a user, in the order of the archive. */
export function openAccountExports(deps: ExportDeps): Exports {
  const { database, log, agentParts } = deps;
  return openExports({ database, log, parts: [...accountParts(deps), ...workParts(deps), ...agentParts] });
}
