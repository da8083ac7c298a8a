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
  models: Pick<Models, "resolveForRead">;
  tools: ReadonlyMap<string, ToolInfo>;
  /** Whether the user has a drive of that id. */
  driveExists(ownerId: string, driveId: string): Promise<boolean>;
  /** The user's tool server of that id. */
  toolServerOf(ownerId: string, serverId: string): Promise<NamedToolServer | undefined>;
}

interface NamedToolServer {
  name: string;
  /** What its tools were called when it was last asked; undefined where that is not known. */
  knownTools: ReadonlySet<string> | undefined;
}
