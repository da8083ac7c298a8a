import type { Database } from "../../engines/database/database.ts";
import type { FetchCogSchema } from "./import-schemas.ts";
import type { SeedModel } from "./model.ts";
import type { ModelMemory } from "./model-memory.ts";

/** What the use cases of this feature work with. */
export interface ModelsContext {
  database: Database;
  memory: ModelMemory;
  /** The names of the models inside the server: what `backend.model` may say under the type `builtin`. */
  builtins: readonly string[];
  /** The models that every installation begins with. */
  shipped: readonly SeedModel[];
  fetchCogSchema: FetchCogSchema;
}
