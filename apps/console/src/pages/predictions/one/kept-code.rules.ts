import type { PredictionRecord } from "@gantry/sdk";
import { isRecord } from "../../../ui/json.rules.ts";
import {
  type CalledModel,
  type CallMode,
  curlCode,
  isStreamed,
  quoted,
  serverUrlOf,
} from "../../models/api/call-code.rules.ts";
import type { SentInput, SentValue } from "../../models/playground/form-values.rules.ts";
import { keptFile } from "./kept-input.rules.ts";

type Called = Pick<PredictionRecord, "input" | "mode" | "door">;

/** The same call as curl. Files that are not stored are named for the reader to supply. Undefined without an input. */
export function curlOfPrediction(card: CalledModel, { input, mode, door }: Called): string | undefined {
  if (input === null || mode === "agent") return undefined;
  if (door !== null || Array.isArray(input.messages)) return chatCurl(card, input);
  return curlCode(card, modeFor(card, mode), sentInput(input));
}

/** A model may have become a streaming one since. */
function modeFor(card: CalledModel, mode: CallMode): CallMode {
  if (mode === "async") return mode;
  return isStreamed(card) ? "stream" : "sync";
}

function sentInput(input: Readonly<Record<string, unknown>>): SentInput {
  const fields = Object.entries(input).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(fields.map(([name, value]) => [name, sentValue(value)]));
}

function sentValue(value: unknown): SentValue {
  if (Array.isArray(value) && value.some((each) => keptFile(each) !== undefined)) {
    return value.map((each) => sentFile(each) ?? String(each));
  }
  return sentFile(value) ?? (value as SentValue);
}

function sentFile(value: unknown): File | string | undefined {
  const file = keptFile(value);
  if (!file) return undefined;
  if (file.kind === "stored") return file.s3Path;
  return file.url ?? new File([], file.name ?? "file", { type: file.contentType });
}

/** Chat Completions take text; other parts of a message cannot be sent as they were stored. */
function chatCurl(card: CalledModel, { messages }: Readonly<Record<string, unknown>>): string | undefined {
  if (!Array.isArray(messages) || !messages.every(isTextMessage)) return undefined;
  const body = { model: card.endpoint_id, messages: messages.map(({ role, content }) => ({ role, content })) };
  return [
    `curl -s ${serverUrlOf(card)}/v1/chat/completions`,
    '-H "Authorization: Bearer $GANTRY_KEY"',
    '-H "Content-Type: application/json"',
    `-d ${quoted(JSON.stringify(body))}`,
  ].join(" \\\n  ");
}

const isTextMessage = (value: unknown): value is { role: string; content: unknown } =>
  isRecord(value) &&
  typeof value.role === "string" &&
  (typeof value.content === "string" ||
    (Array.isArray(value.content) &&
      value.content.every((part) => isRecord(part) && part.type === "text" && typeof part.text === "string")));
