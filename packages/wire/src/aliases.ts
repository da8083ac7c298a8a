import { z } from "zod";
import { callTarget } from "./accounts.ts";

export const putAliasBody = z.strictObject({
  model: callTarget.describe("The model, as `owner/model`, or the agent, as `agents/creator/slug`."),
});
export type PutAliasBody = z.infer<typeof putAliasBody>;

export const aliasRecord = z.strictObject({
  name: z.string(),
  model: z.string().describe("The model or agent. It may be gone: deleting a model leaves its aliases."),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type AliasRecord = z.infer<typeof aliasRecord>;
