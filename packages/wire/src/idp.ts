import { z } from "zod";

/** Lengths are bounds of the wire; what a domain and a token must look like is the connector's to say. */
export const putIdpConnectorBody = z.strictObject({
  domain: z.string().max(2048),
  token: z.string().max(8192),
});

export const runIdpActionBody = z.strictObject({
  arguments: z.record(z.string(), z.unknown()).optional(),
  confirm: z.boolean().optional(),
});

export const idpConnectorRecord = z.strictObject({
  domain: z.string(),
  token_last4: z.string(),
  /** Null when the token does not say. */
  scopes: z.array(z.string()).nullable(),
  expires_at: z.iso.datetime().nullable(),
  /** What will go wrong soon: a token that expires or has expired, a check that was not complete. */
  warnings: z.array(z.string()),
});

export type IdpConnectorRecord = z.infer<typeof idpConnectorRecord>;

/** What the tenant answered; null where it says nothing. Secrets are hidden in it. */
export const idpOutcomeRecord = z.object({ result: z.unknown(), warnings: z.array(z.string()).optional() });

export type IdpOutcomeRecord = z.infer<typeof idpOutcomeRecord>;

const call = z.strictObject({ method: z.string(), path: z.string() });

export const idpActionRecord = z.strictObject({
  name: z.string(),
  group: z.string(),
  method: z.string(),
  path: z.string(),
  /** The call that is really made. */
  upstream: call,
  kind: z.enum(["read", "write"]),
  description: z.string(),
  parameters: z.record(z.string(), z.unknown()),
  scopes: z.array(z.string()),
  destructive: z.boolean(),
  deprecated: z.boolean(),
  paginated: z.enum(["none", "page", "checkpoint"]),
  /** Whether the stored token has a scope for it; null when that is unknown. */
  allowed_by_token: z.boolean().nullable(),
});

export type IdpActionRecord = z.infer<typeof idpActionRecord>;
