import type { RoleName } from "@gantry/wire";
import type { Database } from "../../engines/database/database.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";

/** The user and key behind a request, and the limits of that key. Shared between requests, therefore frozen. */
export interface Caller {
  readonly userId: string;
  readonly username: string;
  readonly role: RoleName;
  readonly plan: string;
  readonly keyId: string;
  /** Public part of the presented key. No other part may be logged. */
  readonly keyPublic: string;
  readonly keyName: string;
  /** End of the grace period, if a rotation has replaced the secret behind this request or session. */
  readonly graceEndsAt: Date | null;
  /** Endpoint ids and agents (`agents/creator/slug`) that the key may call; null: all that its owner may call. */
  readonly models: readonly string[] | null;
  readonly expiresAt: Date | null;
  readonly monthlyLimitMicros: number | null;
  /** Set for a console session; null for an API key. */
  readonly sessionEndsAt: Date | null;
}

export type CallableModels = (userId: string, names: readonly string[]) => Promise<ReadonlySet<string>>;

export interface AccountsContext {
  database: Database;
  clock: Clock;
  log: Log;
  /** Which of the models and agents the user may call. Without it, their names are not checked. */
  callableModels?: CallableModels | undefined;
  /** Whether a sign-in link with that hash exists. */
  isKnownLink(hash: Buffer): Promise<boolean>;
  /** Clears this node's cache of a user. Call it after the change is committed. */
  forgetUser(userId: string): void;
}

export interface Page<T> {
  entries: T[];
  /** Of all pages. */
  total: number;
}
