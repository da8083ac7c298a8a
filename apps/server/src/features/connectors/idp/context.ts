import type { Database } from "../../../engines/database/database.ts";
import type { Vault } from "../../../engines/vault/vault.ts";
import type { Log } from "../../../kernel/log.ts";
import type { CallerDeps } from "./call-tenant.ts";

/** What the use cases of this feature work with. */
export interface IdpContext extends CallerDeps {
  database: Database;
  vault: Vault;
  log: Log;
}
