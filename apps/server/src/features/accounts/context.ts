import type { RoleName, TeamRole } from "@gantry/wire";
import type { Database } from "../../engines/database/database.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import type { PasswordHasher } from "./passwords/password-hasher.ts";
import type { SignInOptions } from "./sign-in-options.ts";

/** A part of the API for which tokens are issued. */
export type Resource = "mcp";

export interface ConnectedApp {
  /** The app chose it. */
  name: string;
  redirectUri: string;
}

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
  /** Of the key or its parent, whichever is lower; so are the next two. */
  readonly monthlyLimitMicros: number | null;
  readonly dailyLimitMicros?: number | null;
  readonly tokensPerMinute?: number | null;
  /** Bounds its requests: also that of a member of a team, which takes no rights from its keys. */
  readonly boundTokensPerMinute?: number | null;
  /** The key whose limits it counts towards too. */
  readonly parentId?: string | null;
  /** False: inputs of its predictions are not kept with their results. */
  readonly keepsInputs: boolean;
  /** Set for a console session; null for an API key. */
  readonly sessionEndsAt: Date | null;
  /** Set for a key of a team, and for a person who acts for a team: the user is the team. */
  readonly team: CallerTeam | null;
}

/** What a member of a team may do, by its current role. */
export interface CallerTeam {
  readonly role: TeamRole;
  readonly member: { readonly userId: string; readonly username: string };
  /** The key that counts what the member does, and the parent of its other keys. */
  readonly seatId: string;
}

/**
 * `team`: the team for which the person of the key acts. `resource`: what is asked for, if tokens are issued for it.
 * Throws `unauthorized`, or `not_found` for the team.
 */
export type Authenticate = (presented: string, team?: string, resource?: Resource) => Promise<Caller>;

export type CallableModels = (userId: string, names: readonly string[]) => Promise<ReadonlySet<string>>;

export interface AccountsContext {
  database: Database;
  clock: Clock;
  log: Log;
  /** Which of the models and agents the user may call. Without it, their names are not checked. */
  callableModels?: CallableModels | undefined;
  signIn: SignInOptions;
  hasher: PasswordHasher;
  /** Whether a sign-in link with that hash exists. */
  isKnownLink(hash: Buffer): Promise<boolean>;
  /** Who may create teams. */
  teamCreation: "admin" | "everyone";
  /** Clears this node's cache of a user. Call it after the change is committed. */
  forgetUser(userId: string): void;
}

export interface Page<T> {
  entries: T[];
  /** Of all pages. */
  total: number;
}
