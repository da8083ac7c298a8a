import type { MeRecord } from "@gantry/wire";
import { errorFrom } from "./errors.ts";
import { readEvents } from "./events.ts";

export interface ClientOptions {
  /** The address of the service, e.g. http://127.0.0.1:8080 */
  url: string;
  key?: string | undefined;
}

export type InputField = string | number | boolean | null | Blob;

export interface Prediction {
  prediction_id: string;
  status: number;
  output_data: Record<string, unknown>;
  inference_time: number;
  files: Record<string, { url: string; method: string }>;
}

/** One line of a stream: the acknowledgement, a piece of output, the end, or an error. */
export interface StreamEvent {
  prediction_id?: string;
  output_data?: Record<string, unknown>;
  status?: number;
  stream_details?: { input_tokens: number; output_tokens: number; cached_tokens?: number };
  detail?: unknown;
}

/** Whether the books are right: they are when nothing is listed. */
export interface BooksRecord {
  accounts: number;
  /** In dollars, over all accounts. */
  sum: number;
  discrepancies: { rule: string; subject: string; expected: number | null; found: number | null }[];
}

export interface GantryClient {
  isUp(): Promise<boolean>;
  isReady(): Promise<boolean>;
  me(): Promise<MeRecord>;
  /** For admins. */
  checkBooks(): Promise<BooksRecord>;
  predict(model: string, input: Record<string, InputField>, options?: { signal?: AbortSignal }): Promise<Prediction>;
  stream(
    model: string,
    input: Record<string, InputField>,
    options?: { signal?: AbortSignal },
  ): AsyncGenerator<StreamEvent>;
  cancel(model: string, predictionId: string): Promise<{ prediction_id: string; status: number }>;
}

export function createClient({ url, key }: ClientOptions): GantryClient {
  const base = url.replace(/\/+$/, "");
  const headers: Record<string, string> = key === undefined ? {} : { "x-api-key": key };

  async function send(
    method: string,
    path: string,
    init: { body?: FormData; signal?: AbortSignal | undefined } = {},
  ): Promise<Response> {
    const response = await fetch(base + path, {
      method,
      headers,
      ...(init.body !== undefined && { body: init.body }),
      ...(init.signal && { signal: init.signal }),
    });
    if (response.ok) return response;
    const text = await response.text();
    throw errorFrom(response, parsed(text));
  }

  const answersOk = (path: string) =>
    fetch(base + path).then(
      (response) => response.ok,
      () => false,
    );

  return {
    isUp: () => answersOk("/healthz"),
    isReady: () => answersOk("/readyz"),
    me: async () => (await (await send("GET", "/api/v2/me")).json()) as MeRecord,
    checkBooks: async () => (await (await send("GET", "/api/v2/admin/ledger")).json()) as BooksRecord,
    async predict(model, input, { signal } = {}) {
      const response = await send("POST", `/api/v1/${model}/predict`, { body: formOf(input), signal });
      const body = (await response.json()) as Prediction & { status_code?: number };
      // Some conditions come inside a 200 with a status of their own.
      if (body.status_code !== undefined) throw errorFrom(response, body);
      return body;
    },
    async *stream(model, input, { signal } = {}) {
      const response = await send("POST", `/api/v1/${model}/predict/stream/`, { body: formOf(input), signal });
      if (!response.body) return;
      for await (const data of readEvents(response.body)) yield JSON.parse(data) as StreamEvent;
    },
    async cancel(model, predictionId) {
      const response = await send("POST", `/api/v1/${model}/predict/cancel/`, {
        body: formOf({ prediction_id: predictionId }),
      });
      return (await response.json()) as { prediction_id: string; status: number };
    },
  };
}

function formOf(input: Record<string, InputField>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(input)) {
    if (value === null) continue;
    if (value instanceof Blob) form.append(name, value, value instanceof File ? value.name : name);
    else form.append(name, String(value));
  }
  return form;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return { detail: text.slice(0, 200) };
  }
}
