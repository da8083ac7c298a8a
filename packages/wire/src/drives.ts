import { z } from "zod";

/** 100 MB. */
export const maxDriveFileBytes = 104_857_600;

/** Entries per page of a directory. */
export const largestItemPage = 1000;

/** PostgreSQL stores neither NUL nor lone surrogates. */
const text = (most: number) =>
  z
    .string()
    .max(most)
    .refine(
      (value) => value.isWellFormed() && !value.includes("\0"),
      "Must not contain NUL characters or lone surrogates",
    );

export const createDriveBody = z.strictObject({
  name: text(200)
    .min(1)
    .regex(/^\P{Cc}*$/u, "Must not contain control characters")
    .regex(/\S/, "Must not be blank")
    .describe("Not blank, and without control characters."),
  description: text(2000).nullish(),
});

export type CreateDriveBody = z.infer<typeof createDriveBody>;

export const driveRecord = z.strictObject({
  id: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  created_at: z.iso.datetime(),
});

export type DriveRecord = z.infer<typeof driveRecord>;

export const driveList = z.strictObject({
  drives: z.array(driveRecord),
  total: z.int(),
  limit: z.int(),
  offset: z.int(),
});

export type DriveList = z.infer<typeof driveList>;

export const driveFileRecord = z.strictObject({
  path: z.string(),
  size: z.int().describe("Bytes."),
  created_at: z.iso.datetime(),
});

export type DriveFileRecord = z.infer<typeof driveFileRecord>;

export const driveFileItem = z.strictObject({
  path: z.string(),
  type: z.literal("file"),
  size: z.int().describe("Bytes."),
});
export const driveDirectoryItem = z.strictObject({ path: z.string(), type: z.literal("directory") });
export const driveItem = z.discriminatedUnion("type", [driveFileItem, driveDirectoryItem]);

export type DriveItem = z.infer<typeof driveItem>;

export const driveItemList = z.strictObject({
  items: z.array(driveItem),
  total: z.int().describe("Entries in the directory, on all pages."),
  limit: z.int(),
  offset: z.int(),
});

export type DriveItemList = z.infer<typeof driveItemList>;
