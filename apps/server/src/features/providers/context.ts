import type { Database } from "../../engines/database/database.ts";
import type { FairQueue } from "../../kernel/fair-queue.ts";
import type { Models } from "../models/index.ts";
import type { Provider, ProviderOwner, Upstreams } from "./provider.ts";

export interface ProvidersContext {
  database: Pick<Database, "sql" | "transaction">;
  models: Pick<Models, "importModel" | "importedByProvider" | "importedModels">;
  upstreams: Upstreams;
  /** The system user `gantry`. */
  operator: ProviderOwner;
  /** The operator's providers whose keys are in the environment. Not stored, so that they vanish with the variable. */
  environment: readonly Provider[];
  /** Where values of secrets come from; undefined if the name does not exist. */
  secrets: {
    /** For `secret`, which the protocol sends: stored by the owner, or a key of the environment for its own vendor. */
    key(owner: ProviderOwner, provider: Pick<Provider, "type" | "url">, name: string): Promise<string | undefined>;
    /** For headers and query: only what the owner has stored. */
    stored(owner: ProviderOwner, name: string): Promise<string | undefined>;
  };
  /** Shares outgoing calls among users. */
  calls: FairQueue;
  /** One import of an owner at a time: imports wait for each other with a connection of the database. */
  imports: FairQueue;
}
