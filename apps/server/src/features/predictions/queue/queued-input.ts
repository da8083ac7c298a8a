import { Readable } from "node:stream";
import { type InputValue, isFileInput } from "../../../engines/models/driver.ts";
import type { CheckedInput } from "../input/index.ts";

/** Input tokens as counted at acceptance, for upstreams that do not report usage. */
const tokensField = "gantry:input-tokens";
/** Larger requests are stored as a file, so that rows of the queue stay small. */
const mostInlineBytes = 64 * 1024;

/** The stored form of a request that has no fields of a manifest. */
export function queuedInput(
  field: string,
  request: object,
  inputTokens: number | undefined,
): Omit<CheckedInput, "dispose"> {
  const json = Buffer.from(JSON.stringify(request));
  const plain = { user: undefined, webhook: undefined };
  const counted = { [tokensField]: inputTokens ?? null };
  if (json.byteLength <= mostInlineBytes) {
    return { ...plain, input: { ...counted, [field]: JSON.parse(json.toString()) }, files: [] };
  }
  const file = {
    kind: "file" as const,
    field,
    contentType: "application/json",
    size: json.byteLength,
    filename: undefined,
    path: undefined,
    width: undefined,
    height: undefined,
    durationSeconds: undefined,
    open: async () => Readable.from([json]),
  };
  return { ...plain, input: counted, files: [file] };
}

export function countedTokens(input: Readonly<Record<string, InputValue>>): number | undefined {
  const { [tokensField]: tokens } = input;
  return typeof tokens === "number" ? tokens : undefined;
}

/** The request of a job, as it was queued. */
export async function readQueued<Request extends object>(
  stored: InputValue,
): Promise<Request & { maxTokens?: number }> {
  if (!isFileInput(stored)) return stored as unknown as Request;
  const chunks: Buffer[] = [];
  for await (const chunk of await stored.open()) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString("utf8")) as Request;
}
