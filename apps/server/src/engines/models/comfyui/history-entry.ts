import type { Workflow } from "@gantry/wire";
import { type Fault, fault } from "../../../kernel/errors.ts";
import type { Mask } from "../mask.ts";
import { isJsonObject } from "../media/output-fields.ts";
import { broken, keptBody, UpstreamError } from "../upstream.ts";
import { nodeNamed } from "./node-errors.ts";

/** A prompt that has ended. */
export interface HistoryEntry {
  /** By node. */
  outputs: Record<string, unknown>;
  /** By the server's clock; undefined for servers of before July 2024. */
  runSeconds: number | undefined;
  /** Nodes that were not run because nothing had changed for them. */
  cachedNodes: ReadonlySet<unknown>;
  failure: Fault | undefined;
}

type Messages = ReadonlyMap<unknown, Record<string, unknown>>;

const ends = ["execution_success", "execution_error", "execution_interrupted"];
const outOfMemory = /out ?of ?memory|allocation on device/i;

export function readEntry(entry: Record<string, unknown>, context: { workflow: Workflow; mask: Mask }): HistoryEntry {
  const status = isJsonObject(entry.status) ? entry.status : undefined;
  const messages = messagesIn(status?.messages);
  const cached = messages.get("execution_cached")?.nodes;
  const hasFailed = status !== undefined && status.status_str !== "success" && status.completed !== true;
  return {
    outputs: isJsonObject(entry.outputs) ? entry.outputs : {},
    runSeconds: runSecondsOf(messages),
    cachedNodes: new Set(Array.isArray(cached) ? cached : []),
    failure: hasFailed ? failureOf(messages, context) : undefined,
  };
}

/** By event, each with its data. */
function messagesIn(value: unknown): Messages {
  const messages = new Map<unknown, Record<string, unknown>>();
  for (const message of Array.isArray(value) ? value : []) {
    const [event, data]: unknown[] = Array.isArray(message) ? message : [];
    if (isJsonObject(data)) messages.set(event, data);
  }
  return messages;
}

function runSecondsOf(messages: Messages): number | undefined {
  const start = messages.get("execution_start")?.timestamp;
  const end = ends.map((event) => messages.get(event)?.timestamp).find((time) => typeof time === "number");
  return typeof start === "number" && typeof end === "number" ? (end - start) / 1000 : undefined;
}

function failureOf(messages: Messages, { workflow, mask }: { workflow: Workflow; mask: Mask }): Fault {
  const error = messages.get("execution_error");
  if (!error && messages.has("execution_interrupted")) {
    const sentence = "The run was stopped at the service behind the model. Try again.";
    return fault("downstream_service_unavailable", sentence, { cause: new Error("The prompt was interrupted") });
  }
  const text = (value: unknown) => mask(typeof value === "string" ? value : "").slice(0, keptBody);
  const [type, message] = [text(error?.exception_type), text(error?.exception_message)];
  const cause = new UpstreamError("The workflow failed", `${type}: ${message}`);
  const node = nodeNamed(workflow, error?.node_id);
  const where = node === undefined ? "" : ` in ${node}`;
  if (outOfMemory.test(type) || outOfMemory.test(message)) {
    return broken(cause, `The service behind the model ran out of memory${where}. Ask for a smaller output.`);
  }
  return broken(cause, `The workflow behind the model failed${where}.`);
}

/** The prompt is neither queued nor in the history. */
export function lostPrompt(): Fault {
  const sentence = "The service behind the model has lost the run, probably because it restarted. Try again.";
  return fault("downstream_service_unavailable", sentence, { cause: new Error("The prompt is not in the history") });
}
