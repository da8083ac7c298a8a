import type OpenAI from "openai";
import { toFile } from "openai";
import { waitFor } from "./wait-for.ts";

type Endpoint = OpenAI.BatchCreateParams["endpoint"];

/** A line of an input file that asks a model. */
export function chatLine(model: string, text: string, customId = text, more: object = {}): object {
  const body = { model, messages: [{ role: "user", content: text }], ...more };
  return { custom_id: customId, method: "POST", url: "/v1/chat/completions", body };
}

/** Lines are objects or text. */
export async function uploadLines(client: OpenAI, lines: readonly (object | string)[]): Promise<OpenAI.FileObject> {
  const text = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n");
  return client.files.create({ file: await toFile(Buffer.from(text), "lines.jsonl"), purpose: "batch" });
}

export async function createBatch(
  client: OpenAI,
  lines: readonly (object | string)[],
  endpoint: Endpoint = "/v1/chat/completions",
): Promise<OpenAI.Batch> {
  const { id } = await uploadLines(client, lines);
  return client.batches.create({ input_file_id: id, endpoint, completion_window: "24h" });
}

export async function endOf(client: OpenAI, id: string, patienceMs = 50_000): Promise<OpenAI.Batch> {
  let batch = await client.batches.retrieve(id);
  await waitFor(
    `the end of ${id}`,
    async () => {
      batch = await client.batches.retrieve(id);
      return ["completed", "failed", "expired", "cancelled"].includes(batch.status);
    },
    patienceMs,
  );
  return batch;
}

export interface ResultLine {
  id: string;
  custom_id: string;
  // biome-ignore lint/suspicious/noExplicitAny: the body of any endpoint
  response: { status_code: number; request_id: string; body: any } | null;
  error: { code: string; message: string } | null;
}

/** The lines of a result file. Empty without a file. */
export async function resultsOf(client: OpenAI, fileId: string | null | undefined): Promise<ResultLine[]> {
  if (!fileId) return [];
  const text = await (await client.files.content(fileId)).text();
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as ResultLine);
}
