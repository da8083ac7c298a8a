import { z } from "zod";

/** A secret is sent in a header, so it must be a valid header value; a trailing line break is a common mistake. */
export const putSecretBody = z.strictObject({
  value: z
    .string()
    .min(1)
    .max(8192)
    .regex(
      /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/,
      "Must be printable ASCII without line breaks or surrounding spaces",
    )
    .describe("The credential that is sent to the backend."),
});

export const secretRecord = z.strictObject({
  name: z.string(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});

export type SecretRecord = z.infer<typeof secretRecord>;
