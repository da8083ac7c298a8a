import { z } from "zod";
import { someChange } from "./field-schema.ts";
import { isEndpointId, readAgentName, reservedUsernames, usernamePattern } from "./names.ts";

/** Every installation has these; admins may change them and add others. */
export const builtInPlans = ["free", "pro", "unlimited"] as const;

export const planNamePattern = /^[a-z0-9][a-z0-9-]{0,38}$/;

/** Only the server knows which plans exist. */
const plan = z.string();

/** The upper bound is the largest number that the database stores. */
const limit = z.int().min(1).max(2_147_483_647).nullable();

export const putPlanBody = z.strictObject({
  requests_per_minute: limit.describe("Null: no limit."),
  parallel: limit.describe(
    "Predictions that run at the same time, and agent runs that are worked on at the same time; null: no limit.",
  ),
  storage_bytes: z
    .int()
    .min(0)
    .nullable()
    .optional()
    .describe(
      "Bytes that each user may store in uploads, drives and responses; 0: no quota; null: the server's default; omitted: unchanged.",
    ),
});
export type PutPlanBody = z.infer<typeof putPlanBody>;

export const planRecord = z.strictObject({
  name: z.string(),
  requests_per_minute: z.int().nullable().describe("Null: no limit."),
  parallel: z.int().nullable().describe("Null: no limit."),
  storage_bytes: z
    .int()
    .nullable()
    .describe(
      "Bytes that each user may store in uploads, drives and responses; 0: no quota; null: the server's default.",
    ),
  users: z.int().describe("Number of users with this plan."),
});
export type PlanRecord = z.infer<typeof planRecord>;

/** Roles of people; the owners of built-in models have a third one, `system`. */
export const roleNames = ["admin", "user"] as const;
export type RoleName = (typeof roleNames)[number];

export const username = z
  .string()
  .regex(usernamePattern, "A username has 2 to 39 characters (a-z, 0-9, -) and does not begin with -")
  .refine((name) => !reservedUsernames.includes(name), "This username is reserved");

/** The server also checks its own minimum length, and refuses usernames and common passwords. */
const password = z.string().min(8).max(1024);

/** A model, or an agent that answers like one. */
export const callTarget = z
  .string()
  .refine(
    (text) => isEndpointId(text) || readAgentName(text) !== undefined,
    "Must be a model in the form owner/model, or an agent in the form agents/creator/slug",
  );

/** ISO 8601; a time without a zone is UTC. */
const dateTime = z.iso.datetime({ offset: true, local: true });

export const createUserBody = z.strictObject({
  username,
  password: password.optional().describe("For signing in; keys do not need one."),
  role: z.enum(roleNames).optional().describe("Default: `user`."),
  plan: plan.optional().describe("Default: `free`."),
});
export type CreateUserBody = z.infer<typeof createUserBody>;

export const changeUserBody = z
  .strictObject({
    password: password.nullable().optional().describe("Null removes it."),
    role: z.enum(roleNames).optional(),
    plan: plan.optional(),
    disabled: z
      .boolean()
      .optional()
      .describe(
        "Keys of a disabled user stop working at once, and its models and agents are hidden until it is enabled again.",
      ),
  })
  .refine(...someChange);
export type ChangeUserBody = z.infer<typeof changeUserBody>;

export const deleteAccountBody = z.strictObject({
  username: z.string().describe("Your username, to confirm the deletion."),
});

export const accountDeletionRecord = z.strictObject({
  username: z.string(),
  status: z.literal("deleting"),
  requested_at: z.iso.datetime(),
});
export type AccountDeletionRecord = z.infer<typeof accountDeletionRecord>;

export const createKeyBody = z.strictObject({
  name: z
    .string()
    .trim()
    .max(100)
    .regex(/^\P{Cc}*$/u, "A name must not contain control characters")
    .optional()
    .describe("Without control characters."),
  expires_at: dateTime.nullable().optional().describe("UTC unless a zone is given; omitted or null: never."),
  models: z
    .array(callTarget)
    .min(1)
    .max(100)
    .nullable()
    .optional()
    .describe(
      "The only models that the key may call, as `owner/model`, and agents that it may run, as `agents/creator/slug`; omitted or null: all models of its owner.",
    ),
  monthly_limit: z
    .number()
    .min(0)
    .max(1_000_000_000)
    .nullable()
    .optional()
    .describe("Dollars per calendar month (UTC), holds included."),
  daily_limit: z
    .number()
    .min(0)
    .max(1_000_000_000)
    .nullable()
    .optional()
    .describe("Dollars per day (UTC), holds included."),
  tokens_per_minute: z
    .int()
    .min(1)
    .max(1_000_000_000)
    .nullable()
    .optional()
    .describe("Input and output tokens of the predictions that are accepted within a minute."),
  keep_inputs: z
    .boolean()
    .optional()
    .describe("Whether inputs of its predictions are kept with their results. Default: true."),
});
export type CreateKeyBody = z.infer<typeof createKeyBody>;

export const changeKeyBody = createKeyBody
  .extend({
    expires_at: dateTime.nullable().optional().describe("UTC unless a zone is given; null: never."),
    models: createKeyBody.shape.models.describe(
      "The only models that the key may call, as `owner/model`, and agents that it may run, as `agents/creator/slug`; null: all models of its owner.",
    ),
    keep_inputs: z.boolean().optional().describe("Whether inputs of its predictions are kept with their results."),
  })
  .refine(...someChange);
export type ChangeKeyBody = z.infer<typeof changeKeyBody>;

export const rotateKeyBody = z.strictObject({
  grace_seconds: z
    .int()
    .min(0)
    .max(30 * 86_400)
    .default(0)
    .describe("How long the old key still works."),
});

export const keyRecord = z.object({
  id: z.string(),
  public: z.string().describe("The public part of the key, as shown in logs."),
  name: z.string(),
  expires_at: z.iso.datetime().nullable(),
  models: z.array(z.string()).nullable().describe("The only models and agents that the key may call; null: all."),
  monthly_limit: z.number().nullable().describe("Dollars per calendar month (UTC)."),
  daily_limit: z.number().nullable().describe("Dollars per day (UTC)."),
  tokens_per_minute: z.int().nullable(),
  keep_inputs: z.boolean().describe("Whether inputs of its predictions are kept with their results."),
  spent: z
    .number()
    .nullable()
    .describe("Dollars of this month, holds included; null for keys without a monthly limit."),
  spent_today: z
    .number()
    .nullable()
    .describe("Dollars of today (UTC), holds included; null for keys without a daily limit."),
  created_at: z.iso.datetime(),
  last_used_at: z.iso.datetime().nullable(),
  member: z.string().nullable().describe("For a key of a team: the member who created it."),
  connected_app: z
    .strictObject({
      name: z.string().describe("The app chose it: not verified."),
      host: z
        .string()
        .describe("Where the app receives its tokens: a host, or the scheme of an app such as `cursor:`."),
    })
    .nullable()
    .describe(
      "Set if an app was connected by OAuth: its access tokens take the place of the key, and work at /mcp only.",
    ),
  key: z.string().optional().describe("The whole key, shown only in the answer that creates it."),
});
export type KeyRecord = z.infer<typeof keyRecord>;

const wallet = {
  balance: z.number().describe("Dollars."),
  reserved: z.number().describe("Dollars of the balance on hold for accepted work."),
};

export const userKinds = ["person", "team"] as const;
export type UserKind = (typeof userKinds)[number];

export const userRecord = z.object({
  id: z.string(),
  username: z.string(),
  kind: z.enum(userKinds),
  role: z.enum(roleNames),
  plan: z.string(),
  disabled: z.boolean(),
  deletion_requested_at: z.iso
    .datetime()
    .nullable()
    .describe("Set while the account is being deleted. Afterwards the user does not exist."),
  ...wallet,
  balance_low: z.boolean().describe("Whether a notice about the balance is open."),
  created_at: z.iso.datetime(),
});
export type UserRecord = z.infer<typeof userRecord>;

export const meRecord = z.object({
  id: z.string(),
  username: z.string(),
  kind: z.enum(userKinds),
  role: z.enum(roleNames),
  team_role: z.enum(["owner", "admin", "member"]).nullable().describe("Your role, when you act for a team."),
  acting_user: z.string().nullable().describe("The member of the team who acts for it."),
  plan: z.string(),
  ...wallet,
  currency: z.literal("USD"),
  storage: z
    .object({
      used_bytes: z
        .int()
        .describe("Uploads, drives, stored responses and files of batches; outputs of predictions do not count."),
      allowed_bytes: z.int().nullable().describe("Null: no quota."),
    })
    .describe("Used and allowed storage."),
});
export type MeRecord = z.infer<typeof meRecord>;
