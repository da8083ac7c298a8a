import { z } from "zod";
import { roleNames } from "./accounts.ts";

export const makeSignInLinkBody = z.strictObject({
  username: z.string().optional().describe("Whom it signs in; left out: you. Others for admins."),
});

export const signInLinkRecord = z.strictObject({
  url: z.string().describe("Opened in a browser it signs in to the console, once."),
  expires_at: z.iso.datetime(),
});
export type SignInLinkRecord = z.infer<typeof signInLinkRecord>;

/** What signs in to the console: what stands behind the # of a sign-in link, or a key. */
export const signInBody = z.union(
  [z.strictObject({ token: z.string() }), z.strictObject({ key: z.string().trim() })],
  "One of token and key is needed, as a text, and nothing else",
);

/** Who is signed in to the console. */
export const sessionRecord = z.strictObject({
  username: z.string(),
  role: z.enum(roleNames),
  expires_at: z.iso.datetime().describe("When one has to sign in again."),
  key: z
    .strictObject({
      name: z.string(),
      models: z.array(z.string()).nullable().describe("All that it may call; null: no such list."),
      monthly_limit: z.number().nullable().describe("Dollars; null: none."),
    })
    .describe("With which one is signed in."),
});
export type SessionRecord = z.infer<typeof sessionRecord>;
