import type { RoleName } from "@gantry/wire";
import type { Database } from "../../engines/database/database.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";

/** Who sends a request, and what the key it came with is confined to. Shared between requests, therefore frozen. */
export interface Caller {
  readonly userId: string;
  readonly username: string;
  readonly role: RoleName;
  readonly plan: string;
  readonly keyId: string;
  /** The public part of the key as it was presented: the one thing about a key that may be logged. */
  readonly keyPublic: string;
  readonly keyName: string;
  /** Set when a rotation has replaced the secret that was presented, or that the session was opened with: its end. */
  readonly graceEndsAt: Date | null;
  /** The endpoint ids that the key may call; null is all that its owner may call. */
  readonly models: readonly string[] | null;
  readonly expiresAt: Date | null;
  readonly monthlyLimitMicros: number | null;
  /** Of somebody who is signed in to the console; null for who presents a key. */
  readonly sessionEndsAt: Date | null;
}

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
