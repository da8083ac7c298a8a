import { z } from "zod";
import { oneOf } from "./field-schema.ts";

export const connectionTypes = ["streamable_http", "sse"] as const;
export type ConnectionType = (typeof connectionTypes)[number];

export const toolServerStatuses = ["connected", "unauthorized", "unreachable"] as const;
export type ToolServerStatus = (typeof toolServerStatuses)[number];

/** It stands before `__` in the names that the model calls a server's tools by. */
export const toolServerNamePattern = /^[a-zA-Z0-9_-]{1,40}$/;

/** What the transport itself sets, or what would change how a message is framed. */
const ownHeaders =
  /^(accept|accept-encoding|connection|content-.*|expect|host|keep-alive|last-event-id|mcp-.*|proxy-.*|te|trailer|transfer-encoding|upgrade)$/i;

/** A server may repeat what it was sent, and a shorter text cannot be hidden without hiding half of every other. */
const tooShort = "a shorter one could not be hidden in what a server answers";

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
    .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/, "Must be the name of a header")
    .refine((name) => !ownHeaders.test(name), "The connection sets this header itself")
    .describe("The name of the header that the value is sent in."),
  value: z
    .string()
    .regex(/^[\x21-\x7e][\x20-\x7e]{6,8190}[\x21-\x7e]$/, `Must have 8 to 8192 printable characters: ${tooShort}`),
});

export const toolServerAuth = z.discriminatedUnion("type", [bearerAuth, apiKeyAuth], {
  error: "Must be {type: bearer, token} or {type: api_key, header, value}",
});
export type ToolServerAuth = z.infer<typeof toolServerAuth>;

function isServerAddress(text: string): boolean {
  // What URL.parse leaves out or puts right would still be stored as it came.
  if (/[\p{Cc}\p{Cs}\s]/u.test(text)) return false;
  const url = URL.parse(text);
  return (url?.protocol === "http:" || url?.protocol === "https:") && url.username === "" && url.password === "";
}

const fields = {
  name: z
    .string()
    .regex(toolServerNamePattern, "Must have 1 to 40 letters, digits, _ and -")
    .describe("Unique among yours; it stands before `__` in the names that the model calls its tools by."),
  url: z.string().max(2048).refine(isServerAddress, "Must be an http or https address without a user name or password"),
  connection_type: oneOf(connectionTypes),
};

export const createToolServerBody = z.strictObject({ ...fields, auth: toolServerAuth.nullish() });
export type CreateToolServerBody = z.infer<typeof createToolServerBody>;

/** Only the fields to change; `auth: null` takes the credentials away. */
export const changeToolServerBody = z
  .strictObject({ ...fields, auth: toolServerAuth.nullable() })
  .partial()
  .refine((change) => Object.values(change).some((value) => value !== undefined), {
    message: "There is nothing to change",
    when: ({ issues }) => issues.length === 0,
  });
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
    ])
    .nullable()
    .describe("How it is signed in to, without what it is signed in with."),
  status: z.enum(toolServerStatuses),
  last_error: z.string().nullable().describe("What went wrong last; null when it is connected."),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type ToolServerRecord = z.infer<typeof toolServerRecord>;

export const serverToolRecord = z.strictObject({
  name: z.string(),
  description: z.string(),
  parameters: z.record(z.string(), z.unknown()).describe("A JSON Schema of the arguments."),
});
export type ServerToolRecord = z.infer<typeof serverToolRecord>;

export const serverToolListRecord = z.strictObject({
  tools: z.array(serverToolRecord),
  unusable: z
    .array(z.strictObject({ name: z.string(), reason: z.string() }))
    .describe("Those that no agent can call, and why."),
  is_cut: z
    .boolean()
    .describe("Whether the server has more than are read: a thousand, or 4 MB of what it says of them."),
});
export type ServerToolListRecord = z.infer<typeof serverToolListRecord>;
