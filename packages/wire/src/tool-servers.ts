import { z } from "zod";
import { oneOf, someChange } from "./field-schema.ts";
import { parseUrl } from "./parse-url.rules.ts";

export const connectionTypes = ["streamable_http", "sse"] as const;
export type ConnectionType = (typeof connectionTypes)[number];

export const toolServerStatuses = ["connected", "unauthorized", "unreachable", "authorization_required"] as const;
export type ToolServerStatus = (typeof toolServerStatuses)[number];

/** The prefix before `__` in the tool names that the model sees. */
export const toolServerNamePattern = /^[a-zA-Z0-9_-]{1,40}$/;

/** Headers that the transport sets, or that change how a message is framed. */
const ownHeaders =
  /^(accept|accept-encoding|connection|content-.*|expect|host|keep-alive|last-event-id|mcp-.*|proxy-.*|te|trailer|transfer-encoding|upgrade)$/i;

/** A server may echo a credential; a short one cannot be masked without masking other text. */
const tooShort = "a shorter one cannot be masked in the server's answers";

export const bearerAuth = z.strictObject({
  type: z.literal("bearer"),
  token: z
    .string()
    .regex(
      /^[\x21-\x7e]{8,8192}$/,
      `Must have 8 to 8192 printable characters and no spaces (and no "Bearer" before it): ${tooShort}`,
    ),
});

export const apiKeyAuth = z.strictObject({
  type: z.literal("api_key"),
  header: z
    .string()
    .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/, "Must be a valid header name")
    .refine((name) => !ownHeaders.test(name), "The connection sets this header")
    .describe("The header that carries the value."),
  value: z
    .string()
    .regex(/^[\x21-\x7e][\x20-\x7e]{6,8190}[\x21-\x7e]$/, `Must have 8 to 8192 printable characters: ${tooShort}`),
});

export const oauthAuth = z
  .strictObject({
    type: z.literal("oauth"),
    client_id: z
      .string()
      .regex(/^[\x20-\x7e]{1,2048}$/, "Must have 1 to 2048 printable characters")
      .optional()
      .describe("A client that you registered. Without one, Gantry registers itself, if the server allows that."),
    client_secret: z
      .string()
      .regex(/^[\x20-\x7e]{8,2048}$/, `Must have 8 to 2048 printable characters: ${tooShort}`)
      .optional()
      .describe("The secret of that client, if it has one. Never returned."),
    scope: z
      .string()
      .regex(/^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/, "Must be scopes separated by spaces")
      .max(2048)
      .optional()
      .describe("Scopes to ask for, separated by spaces. By default those that the server names."),
  })
  .refine((auth) => auth.client_id !== undefined || auth.client_secret === undefined, {
    message: "A client_secret needs a client_id",
    path: ["client_id"],
  });

export const toolServerAuth = z.discriminatedUnion("type", [bearerAuth, apiKeyAuth, oauthAuth], {
  error: "Must be {type: bearer, token}, {type: api_key, header, value} or {type: oauth}",
});
export type ToolServerAuth = z.infer<typeof toolServerAuth>;

function isServerAddress(text: string): boolean {
  // The parser corrects some mistakes that would be stored uncorrected.
  if (/[\p{Cc}\p{Cs}\s]/u.test(text)) return false;
  const url = parseUrl(text);
  return (url?.protocol === "http:" || url?.protocol === "https:") && url.username === "" && url.password === "";
}

const fields = {
  name: z
    .string()
    .regex(toolServerNamePattern, "Must have 1 to 40 characters: letters, digits, _ and -")
    .describe("Unique among your servers; the prefix before `__` in the tool names that the model sees."),
  url: z.string().max(2048).refine(isServerAddress, "Must be an http or https URL without a user name or password"),
  connection_type: oneOf(connectionTypes),
};

export const createToolServerBody = z.strictObject({ ...fields, auth: toolServerAuth.nullish() });
export type CreateToolServerBody = z.infer<typeof createToolServerBody>;

export const changeToolServerBody = z
  .strictObject({ ...fields, auth: toolServerAuth.nullable() })
  .partial()
  .refine(...someChange);
export type ChangeToolServerBody = z.infer<typeof changeToolServerBody>;

export const toolServerRecord = z.strictObject({
  id: z.string(),
  name: z.string(),
  url: z.string(),
  connection_type: z.enum(connectionTypes),
  auth: z
    .union([
      z.strictObject({ type: z.literal("bearer") }),
      z.strictObject({ type: z.literal("api_key"), header: z.string() }),
      z.strictObject({
        type: z.literal("oauth"),
        client_id: z.string().optional().describe("The client that you gave."),
        scope: z.string().optional(),
      }),
    ])
    .nullable()
    .describe("How Gantry authenticates, without the credentials."),
  status: z.enum(toolServerStatuses),
  last_error: z.string().nullable().describe("The last error; null if connected."),
  authorization_url: z
    .string()
    .optional()
    .describe("With status `authorization_required`: open it in a browser to authorize. Valid for 10 minutes."),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type ToolServerRecord = z.infer<typeof toolServerRecord>;

/** The link that starts an authorization. */
export const toolServerAuthorization = z.strictObject({
  authorization_url: z.string().describe("Open it in a browser, sign in and consent. Works once."),
  expires_at: z.iso.datetime(),
});
export type ToolServerAuthorization = z.infer<typeof toolServerAuthorization>;

/** A tool server of an agent that each caller authorizes with an account of their own. */
export const agentAuthorization = z.strictObject({
  server_id: z.string(),
  server_name: z.string(),
  host: z.string().describe("The host that receives your authorization."),
  status: z.enum(["authorized", "authorization_required"]),
  authorization_url: z
    .string()
    .optional()
    .describe("With status `authorization_required`: open it in a browser. Valid for 10 minutes."),
  last_error: z.string().optional().describe("Why no link can be created, such as a server that does not respond."),
});
export type AgentAuthorization = z.infer<typeof agentAuthorization>;

export const agentAuthorizationList = z.strictObject({ authorizations: z.array(agentAuthorization) });

export const serverToolRecord = z.strictObject({
  name: z.string(),
  description: z.string(),
  parameters: z.record(z.string(), z.unknown()).describe("JSON Schema of the arguments."),
});
export type ServerToolRecord = z.infer<typeof serverToolRecord>;

export const serverToolListRecord = z.strictObject({
  tools: z.array(serverToolRecord),
  unusable: z
    .array(z.strictObject({ name: z.string(), reason: z.string() }))
    .describe("Tools that agents cannot call, and why."),
  is_cut: z.boolean().describe("Whether the list is cut: Gantry reads at most 1000 tools, or 4 MB."),
});
export type ServerToolListRecord = z.infer<typeof serverToolListRecord>;
