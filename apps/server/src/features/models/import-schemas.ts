import type { ObjectSchema } from "@gantry/wire";
import { Fault, type Issue } from "../../kernel/errors.ts";

/** Asks a Cog server for its own schemas; rejects when it does not answer or answers something else. */
export type FetchCogSchema = (request: {
  url: string;
  /** Whose stored secret `secret` names. */
  ownerId: string;
  secret: string | undefined;
}) => Promise<{ input: ObjectSchema; output: ObjectSchema }>;

/** Stand for what could not be read: nothing is to be said about them, whatever the rest of the manifest says. */
const unread: Record<"input" | "output", ObjectSchema> = {
  input: { type: "object", properties: {} },
  output: { type: "object", properties: { output: { type: "string", isStream: true } } },
};

/**
 * A manifest for a Cog container may leave out `input` and `output`: they are read from the container's own
 * `/openapi.json` when the manifest is put, and kept from then on. With an issue the body is only good for finding more.
 */
export async function withImportedSchemas(
  fetchSchema: FetchCogSchema,
  ownerId: string,
  body: unknown,
): Promise<{ body: unknown; issues: Issue[] }> {
  const asGiven = { body, issues: [] };
  if (typeof body !== "object" || body === null) return asGiven;
  const { backend, input, output } = body as Record<string, unknown>;
  if (input !== undefined && output !== undefined) return asGiven;
  if (typeof backend !== "object" || backend === null) return asGiven;
  const { type, url, secret } = backend as Record<string, unknown>;
  if (type !== "cog" || typeof url !== "string") return asGiven;
  const completed = (schemas: typeof unread) => ({
    ...body,
    input: input ?? schemas.input,
    output: output ?? schemas.output,
  });
  try {
    const imported = await fetchSchema({ url, ownerId, secret: typeof secret === "string" ? secret : undefined });
    return { body: completed(imported), issues: [] };
  } catch (error) {
    const failed = "The schemas could not be read from the Cog server's /openapi.json";
    const msg = error instanceof Fault ? `${failed}. ${error.message}` : failed;
    return {
      body: completed(unread),
      issues: [{ type: "file_download_error", loc: ["body", "backend", "url"], msg }],
    };
  }
}
