import { z } from "zod";

/** What the console shows before a user connects an app. */
export const authorizationRecord = z.strictObject({
  client: z.strictObject({
    name: z.string().describe("The app chose it: not verified."),
    host: z.string().describe("Where the browser goes afterwards: a host, or the scheme of an app."),
    kind: z.enum(["web", "computer"]).describe("A website, or a program on the user's own computer."),
  }),
  models: z.array(z.string()).describe("Models and agents that the user can call at /mcp now; at most 100."),
  has_more: z.boolean().describe("The user can call more than those."),
});
export type AuthorizationRecord = z.infer<typeof authorizationRecord>;

/** If it allows the connection, it has the fields of a new key too. */
export const decideAuthorizationBody = z.looseObject({
  request: z.string().max(16_384).describe("The query with which the app sent the browser."),
  allow: z.boolean(),
});

export const decidedRecord = z.strictObject({ redirect_to: z.string() });
export type DecidedRecord = z.infer<typeof decidedRecord>;
