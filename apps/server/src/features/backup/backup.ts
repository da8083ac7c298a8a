import { z } from "zod";

/**
 * A backup is a tar with these entries in this order.
 *
 *     backup.json                format and schema
 *     keys/<name>                key files of GANTRY_HOME, which open sealed credentials
 *     tables/<table>/<n>.json    list of rows in PostgreSQL's text form
 *     blobs/<n>.json             key and type of a stored file, followed by
 *     blobs/<n>                  its bytes
 *     end.json                   totals, and the hash of all bytes before; an archive without it is incomplete
 */
export const formatVersion = 1;

export const headSchema = z.object({
  format: z.literal(formatVersion),
  made_at: z.string(),
  /** Part of the addresses of files. */
  bucket: z.string(),
  migrations: z.array(z.object({ name: z.string(), hash: z.string() })),
  tables: z.array(z.object({ name: z.string(), columns: z.array(z.string()) })),
  partitions: z.array(z.object({ name: z.string(), parent: z.string(), bound: z.string() })),
});
export type BackupHead = z.infer<typeof headSchema>;

export const endSchema = z.object({
  rows: z.record(z.string(), z.number()),
  sequences: z.array(z.object({ name: z.string(), value: z.string(), called: z.boolean() })),
  blobs: z.number(),
  blob_bytes: z.number(),
  sha256: z.string(),
});
export type BackupEnd = z.infer<typeof endSchema>;

export const blobSchema = z.object({ key: z.string(), content_type: z.string() });

export interface KeyFile {
  name: string;
  content: Uint8Array;
}

export interface BackupSummary {
  madeAt: string;
  tables: number;
  rows: number;
  blobs: number;
  blobBytes: number;
  keys: string[];
}

export function summaryOf(head: BackupHead, end: BackupEnd, keys: string[]): BackupSummary {
  const rows = Object.values(end.rows).reduce((sum, count) => sum + count, 0);
  return {
    madeAt: head.made_at,
    tables: head.tables.length,
    rows,
    blobs: end.blobs,
    blobBytes: end.blob_bytes,
    keys,
  };
}
