import { z } from "zod";
import { lineOfText } from "./agents.ts";
import { dollars } from "./dollars.ts";
import { oneOf, someChange } from "./field-schema.ts";
import { runLeaves } from "./runs.ts";

export const triggerStatuses = ["active", "disabled", "paused"] as const;
export type TriggerStatus = (typeof triggerStatuses)[number];

export const triggerOverlaps = ["parallel", "queue"] as const;
export type TriggerOverlap = (typeof triggerOverlaps)[number];

export const triggerDeliveryStatuses = ["accepted", "duplicate", "refused"] as const;
export type TriggerDeliveryStatus = (typeof triggerDeliveryStatuses)[number];

const hmacAlgorithms = ["sha256", "sha1", "sha512"] as const;
const hmacEncodings = ["hex", "base64"] as const;

/** Characters of the JSON of `input`. */
const longestInput = 65_536;

const headerName = z
  .string()
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/, "Must be a valid header name")
  .describe("The name of a header, in any case.");

const secret = z
  .string()
  .regex(/^[\x21-\x7e]{8,1024}$/, "Must have 8 to 1024 printable characters and no spaces")
  .describe("Shared with the sender. Stored encrypted, and never returned.");

const standardSecret = z
  .string()
  .regex(
    /^(whsec_)?[A-Za-z0-9+/]{11,1366}={0,2}$/,
    "Must be the signing secret of the sender: base64, usually after whsec_",
  )
  .describe("The signing secret, as `whsec_…`. Stored encrypted, and never returned.");

export const standardWebhooksVerification = z
  .strictObject({ type: z.literal("standard_webhooks"), secret: standardSecret })
  .describe("Standard Webhooks: `webhook-id`, `webhook-timestamp` and `webhook-signature`.");
export const githubVerification = z
  .strictObject({ type: z.literal("github"), secret })
  .describe("GitHub: `X-Hub-Signature-256`.");
export const stripeVerification = z
  .strictObject({ type: z.literal("stripe"), secret })
  .describe("Stripe: `Stripe-Signature`.");
export const hmacVerification = z
  .strictObject({
    type: z.literal("hmac"),
    secret,
    header: headerName.describe("The header that carries the signature."),
    algorithm: oneOf(hmacAlgorithms).default("sha256"),
    encoding: oneOf(hmacEncodings).default("hex"),
    prefix: z
      .string()
      .regex(/^[\x21-\x7e]{1,50}$/, "Must have 1 to 50 printable characters")
      .optional()
      .describe("Text before the signature, such as `sha256=`."),
  })
  .describe("An HMAC of the body in a header.");

export const triggerVerification = z
  .discriminatedUnion(
    "type",
    [standardWebhooksVerification, githubVerification, stripeVerification, hmacVerification],
    { error: "type must be one of standard_webhooks, github, stripe, hmac" },
  )
  .describe("How to check the sender's signature.");
export type TriggerVerification = z.infer<typeof triggerVerification>;

export const triggerDeliveryId = z
  .union(
    [
      z.strictObject({ header: headerName }),
      z.strictObject({
        path: z
          .string()
          .regex(/^[^\s.]+(\.[^\s.]+){0,19}$/, "Must be a path such as event.id")
          .max(200)
          .describe("A path in the body, such as `event.id`."),
      }),
    ],
    { error: "Must be {header} or {path}" },
  )
  .describe("Where a delivery carries its id.");
export type TriggerDeliveryId = z.infer<typeof triggerDeliveryId>;

const fields = {
  name: lineOfText(100).nullable(),
  input: z
    .record(z.string(), z.unknown())
    .refine((input) => JSON.stringify(input).length <= longestInput, `At most ${longestInput} characters as JSON`)
    .nullable()
    .describe(
      "The input of the run. Its texts are Handlebars templates over `body`, `headers` and `query`. A text that is one placeholder, such as `{{body.items}}`, keeps the type of the value. Null: the body is the input.",
    ),
  verification: triggerVerification
    .nullable()
    .describe("Checked on every delivery, before its body is read. Null: the secret in the URL is enough."),
  delivery_id: triggerDeliveryId
    .nullable()
    .describe(
      "A delivery with the id of an earlier one starts no run. Null: `webhook-id`, `X-GitHub-Delivery` or the `id` of a Stripe event, by `verification`, otherwise the header `Idempotency-Key`, if it is sent.",
    ),
  enabled: z.boolean(),
  overlap: oneOf(triggerOverlaps).describe("`queue`: one run at a time, in order of arrival."),
  max_cost: dollars.nullable().describe("Dollars that each run and its descendants may cost; null: no limit."),
  approve: z.array(z.string().min(1).max(128)).max(200).describe("Tools that may write without confirmation."),
  connectors: z
    .array(z.enum(runLeaves))
    .max(10)
    .describe("Your resources that another user's agent may use, as for a run."),
  thread_id: z
    .string()
    .min(1)
    .max(1000)
    .nullable()
    .describe(
      "Handlebars template of the thread that the run continues, such as `issue-{{body.issue.number}}`; null: none.",
    ),
  expected_price: dollars
    .nullable()
    .describe(
      "The agent's `per_run` that you expect. Deliveries are refused while the price differs. Left out at creation: the present price of another user's agent. null: any price.",
    ),
};

export const createTriggerBody = z.strictObject({
  name: fields.name.default(null),
  input: fields.input.default(null),
  verification: fields.verification.default(null),
  delivery_id: fields.delivery_id.default(null),
  enabled: fields.enabled.default(true),
  overlap: fields.overlap.default("parallel"),
  max_cost: fields.max_cost.default(null),
  approve: fields.approve.default([]),
  connectors: fields.connectors.default([]),
  thread_id: fields.thread_id.default(null),
  expected_price: fields.expected_price.optional(),
});
export type CreateTriggerBody = z.input<typeof createTriggerBody>;

export const changeTriggerBody = z
  .strictObject(fields)
  .partial()
  .refine(...someChange);
export type ChangeTriggerBody = z.input<typeof changeTriggerBody>;
/** With defaults. */
export type ReadTriggerChange = z.output<typeof changeTriggerBody>;

const shownVerification = z
  .union([
    z.strictObject({ type: z.enum(["standard_webhooks", "github", "stripe"]) }),
    z.strictObject({
      type: z.literal("hmac"),
      header: z.string(),
      algorithm: z.enum(hmacAlgorithms),
      encoding: z.enum(hmacEncodings),
      prefix: z.string().optional(),
    }),
  ])
  .nullable()
  .describe("Without its secret.");

export const triggerRecord = z.strictObject({
  id: z.string(),
  agent_id: z.string(),
  agent_name: z.string(),
  name: z.string().nullable(),
  input: fields.input,
  verification: shownVerification,
  delivery_id: fields.delivery_id,
  enabled: fields.enabled,
  overlap: z.enum(triggerOverlaps),
  max_cost: z.number().nullable(),
  approve: z.array(z.string()),
  connectors: z.array(z.enum(runLeaves)),
  thread_id: z.string().nullable(),
  expected_price: z.number().nullable(),
  status: z
    .enum(triggerStatuses)
    .describe("`paused`: Gantry stopped the trigger, see `paused_reason`. Set `enabled` to true to resume."),
  paused_reason: z.string().nullable(),
  last_delivery_at: z.iso.datetime().nullable(),
  last_run_id: z.string().nullable(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type TriggerRecord = z.infer<typeof triggerRecord>;

export const triggerWithUrlRecord = triggerRecord.extend({
  url: z.string().describe("The address to which senders post. It contains the secret and is shown once."),
});
export type TriggerWithUrlRecord = z.infer<typeof triggerWithUrlRecord>;

export const triggerDeliveryRecord = z.strictObject({
  id: z.string(),
  delivery_id: z.string().nullable().describe("The sender's id of the delivery; null if it was sent without one."),
  status: z.enum(triggerDeliveryStatuses).describe("`duplicate`: an earlier delivery with this id started the run."),
  reason: z.string().optional().describe("Why the delivery was refused."),
  run_id: z.string().optional(),
  created_at: z.iso.datetime(),
});
export type TriggerDeliveryRecord = z.infer<typeof triggerDeliveryRecord>;
