import { z } from "zod";

/** Lengths are bounds of the wire; what a domain and a token must look like is the connector's to say. */
export const putIdpConnectorBody = z.strictObject({
  domain: z.string().max(2048).describe("Of the tenant, such as `tenant.example.com`."),
  token: z.string().max(8192).describe("A token of the tenant's management API. It is stored encrypted."),
});

export const runIdpActionBody = z.strictObject({
  arguments: z.record(z.string(), z.unknown()).optional().describe("As the action's `parameters` say."),
  confirm: z
    .boolean()
    .optional()
    .describe("An action that writes is only done with true; without it a 409 shows what would be sent."),
});

export const idpConnectorRecord = z.strictObject({
  domain: z.string(),
  token_last4: z.string(),
  scopes: z.array(z.string()).nullable().describe("Null when the token does not say."),
  expires_at: z.iso.datetime().nullable(),
  warnings: z
    .array(z.string())
    .describe("What will go wrong soon: a token that expires or has expired, a check that was not complete."),
});

export type IdpConnectorRecord = z.infer<typeof idpConnectorRecord>;

export const idpOutcomeRecord = z.object({
  result: z
    .unknown()
    .describe(
      "What the tenant answered; null where it says nothing. Secrets are hidden in it, but the one of a client that was just made or rotated.",
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
  upstream: call.describe("The call that is really made."),
  kind: z.enum(["read", "write"]),
  description: z.string(),
  parameters: z.record(z.string(), z.unknown()).describe("A JSON Schema of the arguments."),
  scopes: z.array(z.string()).describe("What the token needs for it."),
  destructive: z.boolean().describe("What it takes away cannot be brought back."),
  deprecated: z.boolean(),
  paginated: z.enum(["none", "page", "checkpoint"]),
  allowed_by_token: z
    .boolean()
    .nullable()
    .describe("Whether the stored token has a scope for it; null when that is unknown."),
});

export type IdpActionRecord = z.infer<typeof idpActionRecord>;
