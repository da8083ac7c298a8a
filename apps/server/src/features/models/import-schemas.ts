import { type FieldSchema, fileFieldOf, headerTexts, type ObjectSchema, queryTexts } from "@gantry/wire";
import { Fault, type Issue } from "../../kernel/errors.ts";
import { isRecord } from "../../kernel/is-record.ts";

/** Rejects if the Cog server does not answer with its schemas. */
export type FetchCogSchema = (request: {
  url: string;
  /** Owner of the stored secret. */
  ownerId: string;
  secret: string | undefined;
  headers: Record<string, string> | undefined;
  query: Record<string, string> | undefined;
}) => Promise<{ input: ObjectSchema; output: ObjectSchema }>;

/** Valid placeholders for schemas that could not be read. */
const placeholders: Record<"input" | "output", ObjectSchema> = {
  input: { type: "object", properties: {} },
  output: { type: "object", properties: { output: { type: "string", isStream: true } } },
};

/**
 * A manifest for a Cog container may omit `input` and `output`: they are imported once from its `/openapi.json`. With an
 * issue, the returned body serves only to find further issues.
 */
export async function withImportedSchemas(
  fetchSchema: FetchCogSchema,
  ownerId: string,
  body: unknown,
): Promise<{ body: unknown; issues: Issue[] }> {
  const asGiven = { body, issues: [] };
  if (!isRecord(body)) return asGiven;
  const { backend, input, output } = body;
  if (input !== undefined && output !== undefined) return asGiven;
  if (!isRecord(backend)) return asGiven;
  const { type, url, secret } = backend;
  if (type !== "cog" || typeof url !== "string") return asGiven;
  const completed = (schemas: typeof placeholders) => ({
    ...body,
    input: input ?? schemas.input,
    output: output ?? withMediaOfKind(schemas.output, body.kind),
  });
  const headers = headerTexts.optional().safeParse(backend.headers);
  const query = queryTexts.optional().safeParse(backend.query);
  // The check of the manifest names the fault.
  if (!headers.success || !query.success) return { body: completed(placeholders), issues: [] };
  try {
    const imported = await fetchSchema({
      url,
      ownerId,
      secret: typeof secret === "string" ? secret : undefined,
      headers: headers.data,
      query: query.data,
    });
    return { body: completed(imported), issues: [] };
  } catch (error) {
    const failed = "Failed to read the schemas from the Cog server's /openapi.json";
    const msg = error instanceof Fault ? `${failed}. ${error.message}` : failed;
    return {
      body: completed(placeholders),
      issues: [{ type: "file_download_error", loc: ["body", "backend", "url"], msg }],
    };
  }
}

/** A container does not say what its output files are. The files of an image or video model are of its kind. */
function withMediaOfKind(output: ObjectSchema, kind: unknown): ObjectSchema {
  if (kind !== "image" && kind !== "video") return output;
  const refined = (field: FieldSchema): FieldSchema => {
    const { file, list } = fileFieldOf(field) ?? {};
    if (file?.["x-media"] !== "file") return field;
    const ofKind = { ...file, "x-media": kind } as const;
    return list ? { ...field, items: ofKind } : ofKind;
  };
  const properties = Object.entries(output.properties).map(([name, field]) => [name, refined(field)]);
  return { ...output, properties: Object.fromEntries(properties) };
}
