import { z } from "zod";
import { agentModel } from "./agents.ts";
import { someChange } from "./field-schema.ts";

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

export const driveIndexBody = z.strictObject({
  embedding_model: agentModel
    .nullable()
    .default(null)
    .describe(
      "A model of kind `embedding`, as `owner/model` or as your alias. Its calls are charged to you. null: search by words only.",
    ),
});

export type DriveIndexBody = z.input<typeof driveIndexBody>;

const driveFields = {
  name: text(200)
    .min(1)
    .regex(/^\P{Cc}*$/u, "Must not contain control characters")
    .regex(/\S/, "Must not be blank")
    .describe("Not blank, and without control characters."),
  description: text(2000).nullish(),
  index: driveIndexBody.nullish().describe("Set to make the files searchable; null: no index."),
};

export const createDriveBody = z.strictObject(driveFields);

export type CreateDriveBody = z.input<typeof createDriveBody>;

export const changeDriveBody = z
  .strictObject({
    ...driveFields,
    index: driveFields.index.describe(
      "Set to create the index, to change its model, or to resume it with this key; null deletes it.",
    ),
  })
  .partial()
  .refine(...someChange);

export type ChangeDriveBody = z.input<typeof changeDriveBody>;

export const driveIndexStatuses = ["indexing", "ready", "paused"] as const;
export type DriveIndexStatus = (typeof driveIndexStatuses)[number];

export const driveIndexRecord = z.strictObject({
  embedding_model: z.string().nullable(),
  status: z.enum(driveIndexStatuses),
  paused_reason: z.string().nullable(),
  files: z.int(),
  indexed: z.int(),
  failed: z.int(),
  skipped: z.int().describe("Files without text, such as images."),
  chunks: z.int(),
  updated_at: z.iso.datetime(),
});

export type DriveIndexRecord = z.infer<typeof driveIndexRecord>;

export const driveRecord = z.strictObject({
  id: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  index: driveIndexRecord.nullable(),
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

export const indexFileStatuses = ["pending", "indexed", "failed", "skipped"] as const;
export type IndexFileStatus = (typeof indexFileStatuses)[number];

export const indexFileRecord = z.strictObject({
  path: z.string(),
  status: z.enum(indexFileStatuses),
  reason: z.string().optional().describe("Why the file failed, was skipped, or is indexed in part."),
  chunks: z.int(),
  updated_at: z.iso.datetime(),
});

export type IndexFileRecord = z.infer<typeof indexFileRecord>;

export const indexFileList = z.strictObject({
  files: z.array(indexFileRecord),
  total: z.int(),
  limit: z.int(),
  offset: z.int(),
});

export type IndexFileList = z.infer<typeof indexFileList>;

export const searchModes = ["hybrid", "text", "vector"] as const;
export type SearchMode = (typeof searchModes)[number];

export const driveSearchResult = z.strictObject({
  path: z.string(),
  page: z.int().optional().describe("The page of a PDF, from 1."),
  line_from: z.int().optional().describe("The first line, from 1; on its page in a PDF."),
  line_to: z.int().optional(),
  heading: z.string().optional().describe("The headings above the text, such as `Setup › Linux`."),
  text: z.string(),
  score: z.number().describe("Comparable only within one answer."),
});

export type DriveSearchResult = z.infer<typeof driveSearchResult>;

export const driveSearchAnswer = z.strictObject({
  results: z.array(driveSearchResult).describe("Best first."),
  mode: z.enum(searchModes).describe("The search that was done: without vectors, `text`."),
  is_complete: z.boolean().describe("False while files wait to be indexed."),
});

export type DriveSearchAnswer = z.infer<typeof driveSearchAnswer>;
