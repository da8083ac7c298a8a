import { z } from "zod";

export const putSecretBody = z.strictObject({ value: z.string().min(1).max(8192) });

export const secretRecord = z.strictObject({
  name: z.string(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});

export type SecretRecord = z.infer<typeof secretRecord>;
