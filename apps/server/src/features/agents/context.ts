import type { Database } from "../../engines/database/database.ts";
import type { Schemas } from "../../engines/schemas/schemas.ts";
import type { Templates } from "../../engines/templates/templates.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Models } from "../models/index.ts";
import type { ToolInfo } from "./tools.ts";

/** What the use cases of this feature work with. */
export interface AgentsContext {
  database: Database;
  clock: Clock;
  templates: Templates;
  schemas: Schemas;
  models: Pick<Models, "callableAmong">;
  tools: ReadonlyMap<string, ToolInfo>;
  /** Those of the ids that are drives of the user. */
  drivesAmong(ownerId: string, driveIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** Those of the names that are stored secrets of the user. */
  secretsAmong(ownerId: string, names: readonly string[]): Promise<ReadonlySet<string>>;
  /** The user's tool servers of those ids. */
  toolServersAmong(ownerId: string, serverIds: readonly string[]): Promise<ReadonlyMap<string, NamedToolServer>>;
  /** Why no action on the user's identity tenant can work now; undefined where nothing is known to keep it. */
  connectorTrouble(ownerId: string): Promise<string | undefined>;
}

export interface NamedToolServer {
  name: string;
  /** What its tools were called when it was last asked; undefined where that is not known. */
  knownTools: ReadonlySet<string> | undefined;
}
