import type { Scope } from "../../accounts/index.ts";

type Route = "sync" | "async";

/** Tells fingerprints of the form as it was sent from older ones, which were of the input as it was read. */
const ofForm = "form";

/** What is kept of a request under its Idempotency-Key. */
export function keptFingerprint(route: Route, fingerprint: string): string {
  return `${route}:${ofForm}:${fingerprint}`;
}

/**
 * How a request compares with the first one under its key. An older fingerprint was of defaults and fetched bytes that may
 * be others by now, so nothing can be held against a repeat on the same route: told to be another, it would be paid again.
 */
export function compareWithFirst(own: string, first: string): "same" | "other_input" | "other_route" {
  const [ownRoute] = own.split(":");
  const [firstRoute, kind] = first.split(":");
  if (firstRoute !== ownRoute) return "other_route";
  return own === first || kind !== ofForm ? "same" : "other_input";
}

/** What an Idempotency-Key is used for. Keys limited to models have their own, or one could fetch another's answer. */
export function idempotencyScope(what: string, { onlyKeyId }: Scope): string {
  return onlyKeyId === null ? what : `${what} ${onlyKeyId}`;
}
