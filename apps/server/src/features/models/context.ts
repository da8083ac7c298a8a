import type { Database } from "../../engines/database/database.ts";
import type { FetchCogSchema } from "./import-schemas.ts";
import type { SeedModel } from "./model.ts";
import type { ModelMemory } from "./model-memory.ts";

export interface ModelsContext {
  database: Database;
  memory: ModelMemory;
  /** Names of built-in models: valid values of `backend.model` for the type `builtin`. */
  builtins: readonly string[];
  /** Models that every installation starts with. */
  shipped: readonly SeedModel[];
  fetchCogSchema: FetchCogSchema;
}
