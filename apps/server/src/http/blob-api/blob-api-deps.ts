import type { BlobInfo, LinkServedStore } from "../../features/files/index.ts";

export interface BlobApiDeps {
  store: LinkServedStore;
  /** GANTRY_FILES_URL, else GANTRY_PUBLIC_URL: the address that links carry, when the operator set one. */
  linkAddress?: string | undefined;
  /**
   * What an upload link may bring; undefined when there is no such link. Asked before the body is read, with its size
   * where that is told; throws where its owner has no room for it.
   */
  findUploadTarget(
    key: string,
    bytes: number | undefined,
  ): Promise<{ maxBytes: number; contentType: string | undefined } | undefined>;
  /** Called when the bytes are stored, before the client is answered. */
  recordUpload(key: string, info: BlobInfo): Promise<void>;
}
