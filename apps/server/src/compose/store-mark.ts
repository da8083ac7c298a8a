import type { Config } from "../config/config.ts";
import { loadOrCreateSigningCredentials } from "../engines/blobs/signing-credentials.ts";

/**
 * What tells file stores apart: a bucket's name, because its server may have several addresses, and of a folder the public
 * half of the key that lies in the same home and signs its links. Part of composing.
 */
export async function storeMark(config: Pick<Config, "S3_ENDPOINT" | "S3_BUCKET" | "GANTRY_HOME">): Promise<string> {
  if (config.S3_ENDPOINT !== undefined) return `s3://${config.S3_BUCKET}`;
  return `folder:${(await loadOrCreateSigningCredentials(config.GANTRY_HOME)).accessKeyId}`;
}
