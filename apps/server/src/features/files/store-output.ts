import { Readable } from "node:stream";
import { newId } from "@gantry/wire";
import type { FileOutput } from "../../engines/models/driver.ts";
import { Fault, fault } from "../../kernel/errors.ts";
import { examineContent } from "./content-type.ts";
import { outputKey } from "./file-name.rules.ts";
import type { FilesDeps } from "./files-deps.ts";
import { formatS3Path } from "./s3-path.rules.ts";
import { storeBody } from "./store-body.ts";

export interface StoredOutput {
  s3Path: string;
  size: number;
  contentType: string;
}

/** Keeps a file that a model made, as a file of the prediction's caller. The body is used up, also on failure. */
export async function storeOutput(
  deps: FilesDeps,
  output: { ownerId: string; predictionId: string; field: string; file: FileOutput; signal?: AbortSignal | undefined },
): Promise<StoredOutput> {
  const { ownerId, predictionId, field, file, signal } = output;
  try {
    const { body, contentType } = await examineContent(file.body, {
      declared: [file.contentType],
      filename: undefined,
    });
    const id = newId("file");
    const key = outputKey(predictionId, id, field, contentType);
    const row = {
      key,
      id,
      ownerId,
      keyId: undefined,
      origin: "output",
      maxBytes: deps.maxUploadBytes,
      predictionId,
    } as const;
    const { size } = await storeBody(deps, row, body, { contentType, signal });
    return { s3Path: formatS3Path({ bucket: deps.blobs.bucket, key }), size, contentType };
  } catch (error) {
    if (file.body instanceof Readable) file.body.destroy();
    // The caller sent nothing too large: the model did.
    if (error instanceof Fault && error.type === "file_too_large") {
      throw fault("downstream_service_error", "The model returned a file that is too large", { cause: error });
    }
    throw error;
  }
}
