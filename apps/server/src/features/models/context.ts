import type { Database } from "../../engines/database/database.ts";
import type { AliasMemory } from "./alias-memory.ts";
import type { FetchCogSchema } from "./import-schemas.ts";
import type { SeedModel } from "./model.ts";
import type { ModelMemory } from "./model-memory.ts";

/** Agents as targets of aliases. */
export interface AgentTargets {
  /** Whether the agent is published, and public or the user's own. */
  mayRun(userId: string, agent: { creator: string; slug: string }): Promise<boolean>;
  exists(agent: { creator: string; slug: string }): Promise<boolean>;
}

export interface ModelsContext {
  database: Database;
  memory: ModelMemory;
  aliases: AliasMemory;
  agentTargets: AgentTargets;
  /** Names of built-in models: valid values of `backend.model` for the type `builtin`. */
  builtins: readonly string[];
  /** Models that every installation starts with. */
  shipped: readonly SeedModel[];
  fetchCogSchema: FetchCogSchema;
}
