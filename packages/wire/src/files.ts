import { z } from "zod";

/** uploaded: sent in one call; link: sent by an upload link; output: made by a prediction. */
export const fileOrigins = ["uploaded", "link", "output"] as const;

/** A file in storage, as its owner sees it in the list. */
export const fileRecord = z.strictObject({
  id: z.string(),
  /** To be used as the value of a file field. */
  s3_path: z.string(),
  origin: z.enum(fileOrigins),
  /** Until the bytes are known to have come, what was declared. */
  content_type: z.string().nullable(),
  /** Null until the bytes are known to have come. */
  size: z.int().nullable(),
  /** The prediction that made it. */
  prediction_id: z.string().nullable(),
  created_at: z.iso.datetime(),
  stored_at: z.iso.datetime().nullable(),
});

export type FileRecord = z.infer<typeof fileRecord>;
