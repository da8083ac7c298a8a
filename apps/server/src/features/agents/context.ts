import type { Database } from "../../engines/database/database.ts";
import type { Schemas } from "../../engines/schemas/schemas.ts";
import type { Templates } from "../../engines/templates/templates.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Models } from "../models/index.ts";
import type { ToolInfo } from "./tools.ts";

export interface AgentsContext {
  database: Database;
  clock: Clock;
  templates: Templates;
  schemas: Schemas;
  models: Pick<Models, "callableAmong" | "namesFor" | "targetOf">;
  tools: ReadonlyMap<string, ToolInfo>;
  /** Whether the operator has set a SearXNG server. */
  isSearxngSet?: boolean;
  /** The ids that are drives of the user. */
  drivesAmong(ownerId: string, driveIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** The names that are stored secrets of the user. */
  secretsAmong(ownerId: string, names: readonly string[]): Promise<ReadonlySet<string>>;
  /** The user's tool servers among the ids. */
  toolServersAmong(ownerId: string, serverIds: readonly string[]): Promise<ReadonlyMap<string, NamedToolServer>>;
  /** Why actions on the user's identity tenant would fail now, if a reason is known. */
  connectorProblem(ownerId: string): Promise<string | undefined>;
}

export interface NamedToolServer {
  name: string;
  /** Tool names from the last list; undefined if the server was not listed yet. */
  knownTools: ReadonlySet<string> | undefined;
}
