import { z } from "zod";
import { onlyParameters } from "./query-schema.ts";

export const exportQuery = onlyParameters({
  files: z
    .enum(["true", "false"])
    .default("true")
    .describe("`false` leaves out the contents of files and drives. The archive still lists them."),
});

const written = z.object({
  records: z.int().describe("Lines of the list."),
  files: z.array(z.string()).describe("Files of the archive that have the list, in order."),
  bytes: z.int(),
});

/** `manifest.json`, the last file of an export. */
export const exportManifest = z.object({
  format: z.literal("gantry-export"),
  version: z.literal(1),
  account: z.object({ id: z.string(), username: z.string(), kind: z.enum(["person", "team"]) }),
  started_at: z.iso.datetime(),
  ended_at: z.iso.datetime(),
  with_files: z.boolean(),
  lists: z.record(z.string(), written).describe("By name, such as `predictions`."),
  contents: z.object({
    files: z.int().describe("Files under `files/` and `drives/`."),
    bytes: z.int(),
    missing: z.int().describe("Files that were deleted or could not be read meanwhile. `missing.jsonl` lists them."),
  }),
  complete: z.literal(true).describe("A cut archive has no manifest."),
});
export type ExportManifest = z.infer<typeof exportManifest>;
