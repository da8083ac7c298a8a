import type { Readable } from "node:stream";
import { Fault } from "../../kernel/errors.ts";

/** An input file. Its content was checked; a driver may open it several times. */
export interface FileInput {
  readonly kind: "file";
  readonly contentType: string;
  readonly size: number;
  readonly filename: string | undefined;
  open(): Promise<Readable>;
}

export function isFileInput(value: unknown): value is FileInput {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "file" && "open" in value;
}

/** The files of an input: one, or those of a list of files. */
export function filesIn(value: unknown): readonly FileInput[] {
  if (isFileInput(value)) return [value];
  return Array.isArray(value) && value.length > 0 && value.every(isFileInput) ? value : [];
}

/** A file made by a driver. The caller of the driver stores it. */
export interface FileOutput {
  readonly kind: "file";
  readonly contentType: string;
  readonly body: Readable | Uint8Array;
}

export function isFileOutput(value: unknown): value is FileOutput {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "file" && "body" in value;
}

export type InputValue =
  | string
  | number
  | boolean
  | null
  | FileInput
  | readonly unknown[]
  | { readonly [key: string]: unknown };
export type OutputValue =
  | string
  | number
  | boolean
  | null
  | FileOutput
  | readonly unknown[]
  | { readonly [key: string]: unknown };

export interface TokenUsage {
  inputTokens: number;
  outputTokens: number;
  cachedTokens?: number;
  /** Input tokens that this call wrote to the upstream's cache. */
  cacheWriteTokens?: number;
  /** True if the upstream did not report usage and the tokens were counted here. */
  estimated?: boolean;
  googleUsage?: Record<string, unknown>;
}

/** Reported cache reads and writes, limited to the input tokens. */
export function cacheUse(
  reported: { cachedTokens?: number | undefined; cacheWriteTokens?: number | undefined },
  inputTokens: number,
): Pick<TokenUsage, "cachedTokens" | "cacheWriteTokens"> {
  const { cachedTokens: read, cacheWriteTokens: written } = reported;
  const cachedTokens = Math.min(read ?? 0, inputTokens);
  return {
    ...(read !== undefined && { cachedTokens }),
    ...(written !== undefined && { cacheWriteTokens: Math.min(written, inputTokens - cachedTokens) }),
  };
}

/** The text of an input, for counting tokens. Files are left out. */
export function readableText(input: Readonly<Record<string, unknown>>): string {
  const texts: string[] = [];
  for (const value of Object.values(input)) {
    if (typeof value === "string") texts.push(value);
    else if (typeof value === "object" && value !== null && !isFileInput(value)) {
      texts.push(JSON.stringify(value, (_name, inner) => (isFileInput(inner) ? undefined : inner)));
    }
  }
  return texts.join("\n");
}

export interface ModelCall {
  predictionId: string;
  /** The checked input with defaults. A null field without a default is absent. */
  input: Readonly<Record<string, InputValue>>;
  /** Aborts when the client disconnects or cancels, or at the time limit. The driver stops its upstream work at once. */
  signal: AbortSignal;
  /** A fragment of a streamed output field. A returned promise delays the next fragment, because the reader is slow. */
  onFragment(field: string, text: string): void | Promise<void>;
  /** Called once or more when the answer has begun. From then on no other backend may answer. */
  onBegun?: (() => void) | undefined;
}

/** Why a text model ended its answer. */
export type StopReason = "end" | "tool_calls" | "length" | "refused" | "stop_sequence";

export interface ModelResult {
  output: Record<string, OutputValue>;
  usage?: TokenUsage;
  /** Only of text models. */
  stop?: StopReason;
  /** Time before the upstream began, such as a wait for a busy or starting server. Not charged. */
  waitedMs?: number;
}

/** Rejection of an aborted call whose use is known: a cancelled run is charged for its tokens and its time. */
export class Interrupted extends Error {
  /** As in `ModelResult`. Infinity if the upstream never began. */
  waitedMs = 0;
  readonly #count: (() => Promise<TokenUsage>) | undefined;
  #usage: Promise<TokenUsage> | undefined;

  constructor(count: (() => Promise<TokenUsage>) | undefined, reason: unknown) {
    super("The call was interrupted", { cause: reason });
    this.name = "Interrupted";
    this.#count = count;
  }

  /** Counts at the first call, because counting a long text must not delay the end of the model call. */
  async usage(): Promise<TokenUsage | undefined> {
    this.#usage ??= this.#count?.();
    return this.#usage;
  }
}

/**
 * The driver of a model, one per backend type. The predictions feature calls it once per execution and owns the slot, the
 * time limit and the abort signal. A driver rejects with a `Fault` for upstream failures and refused content; any other
 * error becomes a plain 500. After an abort it rejects soon, with any error.
 */
export interface ModelDriver {
  run(call: ModelCall): Promise<ModelResult>;
}

/**
 * The upstream's sentence about an invalid request, such as a prompt that is too long; undefined for other failures. Only
 * clients of chat protocols see it: they act on it.
 */
export function sentenceAboutRequest(failure: Error): string | undefined {
  if (!(failure instanceof Fault) || failure.type !== "downstream_service_error") return undefined;
  const { cause } = failure;
  const isRefusal = cause instanceof Error && "requestSentence" in cause && typeof cause.requestSentence === "string";
  return isRefusal ? (cause.requestSentence as string) : undefined;
}
