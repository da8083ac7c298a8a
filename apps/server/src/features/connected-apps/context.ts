import type { Database } from "../../engines/database/database.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import type { Accounts } from "../accounts/index.ts";
import type { Agents } from "../agents/index.ts";
import type { Models } from "../models/index.ts";

export interface ConnectedAppsContext {
  database: Database;
  clock: Clock;
  log: Log;
  accounts: Pick<Accounts, "createKey" | "forgetUser">;
  models: Pick<Models, "listModels">;
  agents: Pick<Agents, "listAgents">;
}
