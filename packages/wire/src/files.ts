import { z } from "zod";

export const fileOrigins = ["uploaded", "link", "output"] as const;

export const fileRecord = z.strictObject({
  id: z.string(),
  s3_path: z.string().describe("Use it as the value of a file field."),
  origin: z
    .enum(fileOrigins)
    .describe("`uploaded`: in one call; `link`: through an upload link; `output`: by a prediction."),
  content_type: z.string().nullable().describe("The declared type until the bytes have arrived."),
  size: z.int().nullable().describe("Bytes; null until they have arrived."),
  prediction_id: z.string().nullable().describe("The prediction that created it."),
  model_name: z.string().nullable().describe("The model of that prediction, while its result is kept."),
  prompt: z.string().nullable().describe("The beginning of that prediction's prompt, if its input was kept."),
  link: z
    .string()
    .nullable()
    .describe(
      "A download link, valid for a day. Null until the bytes have arrived, and if it would exceed 2083 characters.",
    ),
  created_at: z.iso.datetime(),
  stored_at: z.iso.datetime().nullable().describe("When the bytes arrived."),
});

export type FileRecord = z.infer<typeof fileRecord>;
