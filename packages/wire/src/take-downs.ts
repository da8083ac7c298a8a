import { z } from "zod";

export const takenDown = z.object({
  at: z.iso.datetime(),
  reason: z.string().describe("The admin's reason, shown to the owner."),
});
export type TakenDown = z.infer<typeof takenDown>;

export const takeDownBody = z.strictObject({
  reason: z
    .string()
    .max(1000)
    .regex(/\S/, "Must not be blank")
    .describe("Shown to the owner: the reason, and what to change."),
});
export type TakeDownBody = z.infer<typeof takeDownBody>;

export const takeDownRecord = z.object({
  kind: z.enum(["agent", "model"]),
  id: z.string().describe("The agent's id, or the model's `owner/name`."),
  owner: z.string().describe("A username."),
  name: z.string(),
  visibility: z.enum(["private", "public"]).describe("Private while it is taken down."),
  taken_down: takenDown.nullable().describe("Null once restored."),
});
export type TakeDownRecord = z.infer<typeof takeDownRecord>;
