import type { Config } from "../config/config.ts";
import { loadOrCreateSigningCredentials } from "../engines/blobs/signing-credentials.ts";

/**
 * Identifies a file store: the bucket's name, because an S3 server may have several addresses, or for a folder the public
 * half of the key in the same home that signs its links.
 */
export async function storeMark(config: Pick<Config, "S3_BUCKET" | "GANTRY_HOME">): Promise<string> {
  if (config.S3_BUCKET !== undefined) return `s3://${config.S3_BUCKET}`;
  return `folder:${(await loadOrCreateSigningCredentials(config.GANTRY_HOME)).accessKeyId}`;
}
