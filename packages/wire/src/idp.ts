import { z } from "zod";

/** The connector checks the format of domain and token. */
export const putIdpConnectorBody = z.strictObject({
  domain: z.string().max(2048).describe("The tenant's domain, such as `tenant.example.com`."),
  token: z.string().max(8192).describe("A token of the tenant's management API, stored encrypted."),
});

export const runIdpActionBody = z.strictObject({
  arguments: z.record(z.string(), z.unknown()).optional().describe("Arguments that satisfy the action's `parameters`."),
  confirm: z
    .boolean()
    .optional()
    .describe("Required for an action that writes. Without it a 409 shows what would be sent."),
});

export const idpConnectorRecord = z.strictObject({
  domain: z.string(),
  token_last4: z.string(),
  scopes: z.array(z.string()).nullable().describe("Null if the token does not list its scopes."),
  expires_at: z.iso.datetime().nullable(),
  warnings: z
    .array(z.string())
    .describe("Problems to fix: a token that expires soon or has expired, or an incomplete check."),
});

export type IdpConnectorRecord = z.infer<typeof idpConnectorRecord>;

export const idpOutcomeRecord = z.object({
  result: z
    .unknown()
    .describe(
      "The tenant's answer; null if empty. Secrets are hidden, except that of a client just created or rotated.",
    ),
  warnings: z.array(z.string()).optional(),
});

export type IdpOutcomeRecord = z.infer<typeof idpOutcomeRecord>;

const call = z.strictObject({ method: z.string(), path: z.string() });

export const idpActionRecord = z.strictObject({
  name: z.string(),
  group: z.string(),
  method: z.string(),
  path: z.string(),
  upstream: call.describe("The call to the tenant."),
  kind: z.enum(["read", "write"]),
  description: z.string(),
  parameters: z.record(z.string(), z.unknown()).describe("JSON Schema of the arguments."),
  scopes: z.array(z.string()).describe("Scopes that the token needs."),
  destructive: z.boolean().describe("Whether the action cannot be undone."),
  deprecated: z.boolean(),
  paginated: z.enum(["none", "page", "checkpoint"]),
  allowed_by_token: z.boolean().nullable().describe("Whether the stored token has a required scope; null if unknown."),
});

export type IdpActionRecord = z.infer<typeof idpActionRecord>;
