import type { BlobInfo, LinkServedStore } from "../../features/files/index.ts";

export interface BlobApiDeps {
  store: LinkServedStore;
  /** GANTRY_FILES_URL or GANTRY_PUBLIC_URL: the address in links, if the operator has set one. */
  linkAddress?: string | undefined;
  /**
   * The limits of an upload link; undefined if the link does not exist. Called before the body is read, with its size
   * if known. Throws if the upload exceeds the owner's quota.
   */
  findUploadTarget(
    key: string,
    bytes: number | undefined,
  ): Promise<{ maxBytes: number; contentType: string | undefined } | undefined>;
  /** Called when the bytes are stored, before the client receives its answer. */
  recordUpload(key: string, info: BlobInfo): Promise<void>;
}
