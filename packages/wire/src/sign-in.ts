import { z } from "zod";
import { roleNames } from "./accounts.ts";

export const makeSignInLinkBody = z.strictObject({
  username: z.string().optional().describe("The user to sign in. Default: you. Only admins can name another user."),
});

export const signInLinkRecord = z.strictObject({
  url: z.string().describe("Open it in a browser to sign in to the console, once."),
  expires_at: z.iso.datetime(),
});
export type SignInLinkRecord = z.infer<typeof signInLinkRecord>;

export const signInWays = ["link", "key", "password", "oidc"] as const;
export type SignInWay = (typeof signInWays)[number];

/** Why a sign-in at the OpenID provider failed, in the address of the sign-in page. */
export const signInProblems = [
  "expired",
  "refused",
  "unavailable",
  "invalid",
  "not_allowed",
  "no_account",
  "name_invalid",
  "name_taken",
  "disabled",
] as const;
export type SignInProblem = (typeof signInProblems)[number];

/** What the sign-in page offers. */
export const signInWaysRecord = z.strictObject({
  ways: z.array(z.enum(signInWays)),
  provider: z.string().nullable().describe("Name of the OpenID provider; null: none."),
  min_password_length: z.int(),
});
export type SignInWaysRecord = z.infer<typeof signInWaysRecord>;

/** The token after the # of a sign-in link, a key, or a username and a password. */
export const signInBody = z.union(
  [
    z.strictObject({ token: z.string() }),
    z.strictObject({ key: z.string().trim() }),
    z.strictObject({ username: z.string(), password: z.string() }),
  ],
  "Send a token, a key, or a username and a password, as text, and nothing else",
);

export type SignInBody = z.infer<typeof signInBody>;

/** The token after the # of a reset link. */
export const resetPasswordBody = z.strictObject({ token: z.string(), password: z.string() });

export const changePasswordBody = z.strictObject({
  current_password: z.string().max(1024),
  new_password: z.string().min(8).max(1024),
});
export type ChangePasswordBody = z.infer<typeof changePasswordBody>;

export const passwordResetRecord = z.strictObject({
  url: z.string().describe("Opens a page that sets a new password, once."),
  expires_at: z.iso.datetime(),
});
export type PasswordResetRecord = z.infer<typeof passwordResetRecord>;

/** A sign-in to the console, as lists show it. */
export const signedInSessionRecord = z.strictObject({
  id: z.string(),
  current: z.boolean().describe("The session of this request."),
  signed_in_with: z.enum(signInWays),
  key_name: z.string().describe("Name of the key behind the session."),
  created_at: z.iso.datetime(),
  last_used_at: z.iso.datetime().nullable().describe("Exact to the minute."),
  expires_at: z.iso.datetime(),
  address: z.string().nullable().describe("Where the sign-in came from; null: unknown."),
  user_agent: z.string().nullable(),
});
export type SignedInSessionRecord = z.infer<typeof signedInSessionRecord>;

export const sessionRecord = z.strictObject({
  username: z.string(),
  role: z.enum(roleNames),
  expires_at: z.iso.datetime().describe("When you have to sign in again."),
  key: z
    .strictObject({
      name: z.string(),
      models: z.array(z.string()).nullable().describe("The only models that the key may call; null: all."),
      monthly_limit: z.number().nullable().describe("Dollars per month; null: no limit."),
      daily_limit: z.number().nullable().describe("Dollars per day; null: no limit."),
      tokens_per_minute: z.int().nullable().describe("Null: no limit."),
    })
    .describe("The key of the session."),
  trace_url: z.string().nullable().describe("The page of a trace, with `{trace_id}`, if the operator has set it."),
});
export type SessionRecord = z.infer<typeof sessionRecord>;
