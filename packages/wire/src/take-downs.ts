import { z } from "zod";

/** Why an agent or a model is not available to anyone but its owner. */
export const takenDown = z.object({
  at: z.iso.datetime(),
  reason: z.string().describe("As the admin wrote it; the owner reads it."),
});
export type TakenDown = z.infer<typeof takenDown>;

export const takeDownBody = z.strictObject({
  reason: z
    .string()
    .max(1000)
    .regex(/\S/, "Must not be blank")
    .describe("Shown to the owner: why, and what to change."),
});
export type TakeDownBody = z.infer<typeof takeDownBody>;

export const takeDownRecord = z.object({
  kind: z.enum(["agent", "model"]),
  id: z.string().describe("An agent's id, or `owner/name` of a model."),
  owner: z.string().describe("A username."),
  name: z.string(),
  visibility: z.enum(["private", "public"]).describe("Private while it is taken down."),
  taken_down: takenDown.nullable().describe("Null: it is restored."),
});
export type TakeDownRecord = z.infer<typeof takeDownRecord>;
