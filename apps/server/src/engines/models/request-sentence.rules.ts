import { isRecord } from "../../kernel/is-record.ts";

/** Statuses of requests that the upstream understood and refused. */
const aboutRequest = new Set([400, 413, 422]);
/** Sentences about the operator's account, which callers neither caused nor may read. */
const aboutOperator =
  /api[ _-]?keys?\b|credential|authenti|authori[sz]|permission|\bcredits?\b|billing|balance|payment|quota|organi[sz]ation|\baccounts?\b|subscription|workspace|\bmodels?\b.{0,80}\b(?:not (?:exist|found)|unknown)\b/i;
const addresses =
  /\b[a-z][a-z0-9+.-]*:\/\/[^\s"'<>)]+|\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b|\b[\w-]+(?:\.[\w-]+)+:\d+\b/gi;
const longestSentence = 1000;

/** What an upstream says about the request that it refused, for example that the prompt is too long. */
export function sentenceIn(status: number, body: string): string | undefined {
  if (!aboutRequest.has(status)) return undefined;
  const sentence = (messageIn(parsed(body)) ?? startOfMessage(body))?.replace(/[\p{Cc}\s]+/gu, " ").trim();
  if (!sentence || aboutOperator.test(sentence)) return undefined;
  return sentence.replace(addresses, "[hidden]").slice(0, longestSentence);
}

/** Servers put the sentence under different names, and Google's puts everything into a list. */
function messageIn(body: unknown): string | undefined {
  if (typeof body === "string") return body;
  if (Array.isArray(body)) return messageIn(body[0]);
  if (!isRecord(body)) return undefined;
  return messageIn(body.error ?? body.message ?? body.detail ?? body.msg);
}

/** An error that quotes a long prompt was cut. */
function startOfMessage(body: string): string | undefined {
  const start = /"(?:message|error|detail|msg)"\s*:\s*"((?:[^"\\]|\\u[\da-f]{4}|\\[^u]){1,2000})/i.exec(body)?.[1];
  const text = start === undefined ? undefined : parsed(`"${start}"`);
  return typeof text === "string" ? text : undefined;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
