import type { Database } from "../../engines/database/database.ts";
import type { OAuthEngine } from "../../engines/tools/oauth/oauth.ts";
import type { ToolServerClients } from "../../engines/tools/tools.ts";
import type { Vault } from "../../engines/vault/vault.ts";
import type { Log } from "../../kernel/log.ts";
import type { KnownTools } from "./tool-server.ts";

export interface ToolServersContext {
  database: Database;
  vault: Vault;
  clients: ToolServerClients;
  oauth: OAuthEngine;
  log: Log;
  known: KnownTools;
  /** Agents of the owner whose published or latest revision uses the server. */
  agentsUsingToolServer(ownerId: string, serverId: string): Promise<readonly { id: string; name: string }[]>;
}
