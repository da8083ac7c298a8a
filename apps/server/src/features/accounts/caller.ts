import type { RoleName } from "@gantry/wire";

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
