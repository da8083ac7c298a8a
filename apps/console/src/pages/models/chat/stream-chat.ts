import { GantryError } from "@gantry/sdk";
import { fetchAsConsole } from "../../../api/fetch-as-console.ts";
import { ChatFailure, type ChatPiece, dataIn, pieceOf } from "./sse.rules.ts";

/** Codes of the protocol that Gantry's own API calls by another name. */
const types: Readonly<Record<string, string>> = {
  insufficient_quota: "insufficient_funds",
  rate_limit_exceeded: "rate_limit",
  invalid_api_key: "unauthorized",
};

interface ChatOptions {
  signal: AbortSignal;
  onAccepted(predictionId: string): void;
}

/** Streams a chat completion. Leaving the loop closes the connection, which cancels the prediction. */
export async function* streamChat(
  body: Record<string, unknown>,
  { signal, onAccepted }: ChatOptions,
): AsyncGenerator<ChatPiece> {
  const response = await send(body, signal);
  const requestId = response.headers.get("x-request-id") ?? undefined;
  const predictionId = response.headers.get("x-gantry-prediction-id");
  if (predictionId !== null) onAccepted(predictionId);
  if (!response.ok || !response.body) throw await refusal(response, requestId);
  let isEnded = false;
  try {
    for await (const data of dataIn(textsOf(response.body))) {
      isEnded = data === "[DONE]";
      if (isEnded) break;
      const piece = pieceOf(data);
      if (piece) yield piece;
    }
  } catch (error) {
    if (!(error instanceof ChatFailure)) throw connectionError(error, requestId);
    throw failure({ status: 502, code: error.code, message: error.message, requestId });
  }
  if (!isEnded) throw connectionError(undefined, requestId);
}

async function send(body: Record<string, unknown>, signal: AbortSignal): Promise<Response> {
  try {
    return await fetchAsConsole("/v1/chat/completions", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      signal,
    });
  } catch (error) {
    throw connectionError(error, undefined);
  }
}

async function* textsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

async function refusal(response: Response, requestId: string | undefined): Promise<GantryError> {
  const { error } = (await response.json().catch(() => ({}))) as { error?: { message?: string; code?: string } };
  const message = error?.message ?? `The server responded with status ${response.status}`;
  return failure({ status: response.status, code: error?.code, message, requestId });
}

function failure(given: {
  status: number;
  code: string | undefined;
  message: string;
  requestId: string | undefined;
}): GantryError {
  const { status, code, message, requestId } = given;
  const type = code === undefined ? undefined : (types[code] ?? code);
  return new GantryError({
    status,
    type,
    message,
    retryable: status >= 500 || status === 429,
    requestId,
    body: undefined,
  });
}

const connectionError = (cause: unknown, requestId: string | undefined): GantryError =>
  new GantryError({
    status: 0,
    type: "connection_error",
    message: "The connection was lost",
    retryable: true,
    requestId,
    body: undefined,
    cause,
  });
