import type { Database } from "../../engines/database/database.ts";
import type { Templates } from "../../engines/templates/templates.ts";
import type { Vault } from "../../engines/vault/vault.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import type { Accounts } from "../accounts/index.ts";
import type { Agents } from "../agents/index.ts";
import type { Runs } from "../runs/index.ts";

export interface TriggersContext {
  database: Database;
  vault: Vault;
  clock: Clock;
  log: Log;
  templates: Pick<Templates, "check" | "fill">;
  accounts: Pick<Accounts, "callerOfKey">;
  agents: Pick<Agents, "readAgent">;
  runs: Pick<Runs, "create">;
}
