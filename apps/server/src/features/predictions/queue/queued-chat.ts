import { Readable } from "node:stream";
import { type FileInput, type InputValue, isFileInput } from "../../../engines/models/driver.ts";
import type { Terms } from "../../billing/index.ts";
import type { Model } from "../../models/index.ts";
import { type DoorChat, performChat, planChat } from "../execution/converse.ts";
import type { Execution } from "../execution/execute-prediction.ts";
import type { CheckedInput } from "../input/index.ts";
import { streamedField } from "../prediction.ts";

/** No field of a manifest can have these names. */
const field = "gantry:chat";
/** Input tokens as counted at acceptance, for upstreams that do not report usage. */
const tokensField = "gantry:input-tokens";
/** Larger conversations are stored as a file, so that rows of the queue stay small. */
const mostInlineBytes = 64 * 1024;

/** The terms and the stored form of a conversation that a worker performs later. */
export async function planQueuedChat(
  deps: { estimateTokens(text: string): Promise<number> },
  model: Model,
  chat: DoorChat,
): Promise<{ terms: Terms; input: Omit<CheckedInput, "dispose"> }> {
  const { terms, maxTokens, inputTokens } = await planChat(deps, model, chat);
  const json = Buffer.from(JSON.stringify({ ...chat, maxTokens }));
  const plain = { user: undefined, webhook: undefined };
  const counted = { [tokensField]: inputTokens ?? null };
  if (json.byteLength <= mostInlineBytes) {
    return { terms, input: { ...plain, input: { ...counted, [field]: JSON.parse(json.toString()) }, files: [] } };
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
  return { terms, input: { ...plain, input: counted, files: [file] } };
}

/** How a worker performs a job, if the job is a conversation. */
export function chatOfJob(
  model: Model,
  input: Readonly<Record<string, InputValue>>,
): Pick<Execution, "perform" | "inputTokens"> {
  const { [field]: stored, [tokensField]: inputTokens } = input;
  if (stored === undefined) return {};
  const output = streamedField(model) ?? field;
  return {
    inputTokens: typeof inputTokens === "number" ? inputTokens : undefined,
    perform: async (driver, call, backend) => {
      const { maxTokens, ...chat } = isFileInput(stored) ? await readChat(stored) : (stored as unknown as DoorChat);
      const streamed = { ...chat, onText: (text: string) => call.onFragment(output, text) };
      return performChat(model, streamed, { maxTokens })(driver, call, backend);
    },
  };
}

async function readChat(file: FileInput): Promise<DoorChat> {
  const chunks: Buffer[] = [];
  for await (const chunk of await file.open()) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString("utf8")) as DoorChat;
}
