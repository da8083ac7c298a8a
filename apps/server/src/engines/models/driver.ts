import type { Readable } from "node:stream";

/** A file among a prediction's inputs: already checked by its bytes, readable as often as the driver likes. */
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

/** A file that a driver made. The caller of the driver stores it; the driver knows nothing of storage. */
export interface FileOutput {
  readonly kind: "file";
  readonly contentType: string;
  readonly body: Readable | Uint8Array;
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
  /** Of the input, written to the upstream's cache by this call. */
  cacheWriteTokens?: number;
  /** True when the upstream reported none and they were counted here. */
  estimated?: boolean;
  googleUsage?: Record<string, unknown>;
}

/** What of the input was read from a cache or written to one, as far as it is reported: never more than the input. */
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

/** What a model reads of an input, for counting: text wherever it stands in it; numbers weigh nothing, files are not text. */
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
  /** The checked input with defaults filled in; a field that is null and has no default is absent. */
  input: Readonly<Record<string, InputValue>>;
  /** Aborted when the client leaves, cancels, or the time is up. The driver stops its upstream work at once. */
  signal: AbortSignal;
  /** A piece of a streamed output field. A returned promise means: wait for it before the next (a slow reader). */
  onFragment(field: string, text: string): void | Promise<void>;
}

export interface ModelResult {
  output: Record<string, OutputValue>;
  usage?: TokenUsage;
}

/**
 * What a driver rejects with when its signal aborted and it knows what was used until then: a cancelled run is charged
 * for the tokens made.
 */
export class Interrupted extends Error {
  readonly #count: () => Promise<TokenUsage>;
  #usage: Promise<TokenUsage> | undefined;

  constructor(count: () => Promise<TokenUsage>, reason: unknown) {
    super("The call was interrupted", { cause: reason });
    this.name = "Interrupted";
    this.#count = count;
  }

  /** Counted when it is first asked for: a long text takes a while, and the call must be over before. */
  usage(): Promise<TokenUsage> {
    this.#usage ??= this.#count();
    return this.#usage;
  }
}

/**
 * The driver of a model: one file a backend type. Called once per execution by the predictions feature, which holds
 * the capacity slot, the time limit and the abort signal. It rejects with a `Fault` for everything it can name
 * (upstream faults, refused content); whatever else it throws becomes a bare 500. After an abort it rejects soon, with
 * any error.
 */
export interface ModelDriver {
  run(call: ModelCall): Promise<ModelResult>;
}
