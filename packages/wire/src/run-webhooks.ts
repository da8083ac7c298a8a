import { z } from "zod";
import { oneOf } from "./field-schema.ts";
import { isWebAddress } from "./field-value-scalars.ts";

export const runWebhookEvents = ["done", "error", "confirmation_required"] as const;
export type RunWebhookEvent = (typeof runWebhookEvents)[number];

const url = z
  .string()
  .max(2083)
  .refine(isWebAddress, "Must be an http or https URL without a user name or password")
  .describe("Where to send events.");

const events = z
  .array(oneOf(runWebhookEvents))
  .min(1)
  .max(runWebhookEvents.length)
  .optional()
  .describe("Which events to send. Default: all.");

const headers = z.record(
  z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/, "Must be a valid header name"),
  z.string().regex(/^[\x20-\x7e\x80-\xff]{0,8192}$/, "Must be a valid header value of at most 8192 characters"),
);

const mostEntries = 50;
const isShort = (entries: object) => Object.keys(entries).length <= mostEntries;

export const agentWebhook = z.strictObject({ url, events });
export type AgentWebhook = z.infer<typeof agentWebhook>;

export const runWebhook = z.strictObject({
  url,
  headers: headers
    .refine(isShort, `At most ${mostEntries} headers`)
    .optional()
    .describe("Sent with every attempt. Stored encrypted, and never returned."),
  query_params: z
    .record(z.string().max(200), z.string().max(2083))
    .refine(isShort, `At most ${mostEntries} parameters`)
    .optional()
    .describe("Added to the URL. Stored encrypted."),
  events,
});
export type RunWebhook = z.infer<typeof runWebhook>;
