/**
 * The circuit of a backend as a node keeps it. The table has the same state for all nodes.
 *
 *   closed ──failures in a row──► open ──cool-down──► due ──one node claims──► probing
 *     ▲                            ▲                                             │ │
 *     │                            └────────────────── failed ───────────────────┘ │
 *     └───────────────────────────────────── answered ─────────────────────────────┘
 */
export interface Circuit {
  /** In a row, seen by this node. */
  failures: number;
  /** By the clock of this process. Undefined if it is closed. */
  openUntil: number | undefined;
  /** When this node learned of it. Calls that started before say nothing about it. */
  openedAt: number;
  /** When a node claimed the probe. */
  probedAt: number | undefined;
}

export type CircuitState = "closed" | "open" | "due";

/** One failure is often only one, and three in a row never are. */
export const mostFailures = 3;

/** Then the claim is tried again, in case its end was not announced. */
const probeDoubtedMs = 5_000;

/** The longest pause that a backend may ask for. */
export const longestPauseMs = 300_000;

export function stateOf({ openUntil, probedAt }: Circuit, now: number): CircuitState {
  if (openUntil === undefined) return "closed";
  const isProbed = probedAt !== undefined && now - probedAt < probeDoubtedMs;
  return now < openUntil || isProbed ? "open" : "due";
}

/** What a failure means for a circuit that is closed. */
export function opensAfter(
  failures: number,
  retryAfterMs: number | undefined,
): { opens: boolean; askedMs: number | null } {
  // A failure that ends within a second is over before other nodes learn of it.
  const isAsked = retryAfterMs !== undefined && retryAfterMs >= 1_000;
  if (isAsked) return { opens: true, askedMs: Math.round(Math.min(retryAfterMs, longestPauseMs)) };
  return { opens: failures >= mostFailures, askedMs: null };
}
