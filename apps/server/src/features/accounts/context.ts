import type { Database } from "../../engines/database/database.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";

export type CallableModels = (userId: string, endpointIds: readonly string[]) => Promise<ReadonlySet<string>>;

/** What the use cases of this feature work with. */
export interface AccountsContext {
  database: Database;
  clock: Clock;
  log: Log;
  /** Those of the models that the user may call; left out, no name is looked up. */
  callableModels?: CallableModels | undefined;
  /** Makes this node forget what it remembers of a user; to be called once the change is committed. */
  forgetUser(userId: string): void;
}

/** A page of a list, with the number of all entries. */
export interface Page<T> {
  entries: T[];
  total: number;
}
