import type { ObjectSchema } from "@gantry/wire";
import { fault } from "../../kernel/errors.ts";

/** Asks a Cog server for its own schemas; rejects when it does not answer or answers something else. */
export type FetchCogSchema = (request: {
  url: string;
  /** Whose stored secret `secret` names. */
  ownerId: string;
  secret: string | undefined;
}) => Promise<{ input: ObjectSchema; output: ObjectSchema }>;

/**
 * A manifest for a Cog container may leave out `input` and `output`: they are read from the container's own
 * `/openapi.json` when the manifest is put, and kept from then on.
 */
export async function withImportedSchemas(
  fetchSchema: FetchCogSchema,
  ownerId: string,
  body: unknown,
): Promise<unknown> {
  if (typeof body !== "object" || body === null) return body;
  const { backend, input, output } = body as Record<string, unknown>;
  if (input !== undefined && output !== undefined) return body;
  if (typeof backend !== "object" || backend === null) return body;
  const { type, url, secret } = backend as Record<string, unknown>;
  if (type !== "cog" || typeof url !== "string") return body;
  try {
    const request = { url, ownerId, secret: typeof secret === "string" ? secret : undefined };
    const imported = await fetchSchema(request);
    return { ...body, input: input ?? imported.input, output: output ?? imported.output };
  } catch (error) {
    throw fault("file_download_error", "The schemas could not be read from the Cog server's /openapi.json", {
      loc: ["body", "backend", "url"],
      cause: error,
    });
  }
}
