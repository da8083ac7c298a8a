import { z } from "zod";

/** It is sent in a header, so it is what a header may hold; a line break at its end is a usual slip. */
export const putSecretBody = z.strictObject({
  value: z
    .string()
    .min(1)
    .max(8192)
    .regex(
      /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/,
      "Must be printable ASCII, without line breaks and without spaces around it",
    )
    .describe("What the backend is sent as its credential."),
});

export const secretRecord = z.strictObject({
  name: z.string(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});

export type SecretRecord = z.infer<typeof secretRecord>;
