import { z } from "zod";

/**
 * What a backup is: a tar with these entries, in this order.
 *
 *     backup.json                what it is and which schema it belongs to
 *     keys/<name>                key files of the home, without which sealed credentials stay shut
 *     tables/<table>/<n>.json    rows, as PostgreSQL writes a row of that table as text: a list of texts
 *     blobs/<n>.json             key and type of a stored file, right before
 *     blobs/<n>                  its bytes
 *     end.json                   how much there was, and the hash of all bytes before; without it, the backup is not whole
 */
export const formatVersion = 1;

export const headSchema = z.object({
  format: z.literal(formatVersion),
  made_at: z.string(),
  /** Which the addresses of files name. */
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
