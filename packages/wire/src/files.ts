import { z } from "zod";

export const fileOrigins = ["uploaded", "link", "output"] as const;

/** A file in storage, as its owner sees it in the list. */
export const fileRecord = z.strictObject({
  id: z.string(),
  s3_path: z.string().describe("To be used as the value of a file field."),
  origin: z
    .enum(fileOrigins)
    .describe("`uploaded`: sent in one call; `link`: sent by an upload link; `output`: made by a prediction."),
  content_type: z.string().nullable().describe("Until the bytes are known to have come, what was declared."),
  size: z.int().nullable().describe("Bytes; null until they are known to have come."),
  prediction_id: z.string().nullable().describe("The prediction that made it."),
  created_at: z.iso.datetime(),
  stored_at: z.iso.datetime().nullable().describe("When the bytes had come."),
});

export type FileRecord = z.infer<typeof fileRecord>;
