import type { Database } from "../../engines/database/database.ts";
import type { ToolServerClients } from "../../engines/tools/tools.ts";
import type { Vault } from "../../engines/vault/vault.ts";
import type { Log } from "../../kernel/log.ts";
import type { KnownTools } from "./tool-server.ts";

/** What the use cases of this feature work with. */
export interface ToolServersContext {
  database: Database;
  vault: Vault;
  clients: ToolServerClients;
  log: Log;
  known: KnownTools;
  /** The owner's agents whose published or latest revision uses the server. */
  agentsUsingToolServer(ownerId: string, serverId: string): Promise<readonly { id: string; name: string }[]>;
}
