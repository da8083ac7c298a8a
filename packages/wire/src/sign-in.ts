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

/** The token after the # of a sign-in link, or a key. */
export const signInBody = z.union(
  [z.strictObject({ token: z.string() }), z.strictObject({ key: z.string().trim() })],
  "Send either token or key, as text, and nothing else",
);

export const sessionRecord = z.strictObject({
  username: z.string(),
  role: z.enum(roleNames),
  expires_at: z.iso.datetime().describe("When you have to sign in again."),
  key: z
    .strictObject({
      name: z.string(),
      models: z.array(z.string()).nullable().describe("The only models that the key may call; null: all."),
      monthly_limit: z.number().nullable().describe("Dollars; null: no limit."),
    })
    .describe("The key of the session."),
});
export type SessionRecord = z.infer<typeof sessionRecord>;
