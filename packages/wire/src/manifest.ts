/** One input or output field of a model, as JSON Schema plus the extensions that files and streams need. */
export interface FieldSchema {
  /** A list with "null" in it makes the field nullable. */
  type?: string | string[];
  title?: string;
  description?: string;
  default?: unknown;
  enum?: unknown[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  items?: Record<string, unknown>;
  properties?: Record<string, unknown>;
  required?: string[];
  additionalProperties?: boolean;
  /** "binary" makes it a file field; "uri" and "date-time" are checked. */
  format?: string;
  "x-media"?: "image" | "video" | "audio" | "file";
  /** Allowed file name endings, each with its dot; the media's own list where it is left out. */
  "x-formats"?: string[];
  /** Seconds; videos only. */
  "x-max-duration"?: number;
  /** Output fields only: delivered progressively. */
  isStream?: boolean;
  [extension: string]: unknown;
}

export interface ObjectSchema {
  type: "object";
  properties: Record<string, FieldSchema>;
  required?: string[];
  [extension: string]: unknown;
}

/** Prices in dollars; what is left out costs nothing. */
export interface Pricing {
  per_request?: number;
  per_second?: number;
  per_million_input_tokens?: number;
  per_million_cached_tokens?: number;
  per_million_cache_write_tokens?: number;
  per_million_output_tokens?: number;
  per_output?: number;
}

export interface BackendConfig {
  /** A key of `backendTypes`. */
  type: string;
  /** The base; the server appends the protocol's own path. */
  url?: string;
  model?: string;
  /** The name of a stored secret of the model's owner. */
  secret?: string;
  [setting: string]: unknown;
}

/** What describes a model: its card, its schemas, its price and who answers it. */
export interface Manifest {
  title: string;
  description: string;
  kind: "image" | "video" | "text" | "other";
  visibility: "public" | "private";
  /** Parallel runs over all nodes; 0 means not active. */
  capacity: number;
  timeout_seconds: number;
  max_queue_seconds: number;
  context_window?: number;
  model_size_in_billions?: number;
  pricing: Pricing;
  input: ObjectSchema;
  output: ObjectSchema;
  backend: BackendConfig;
}

/**
 * The fields to change. A field is replaced whole, `input` and `pricing` too; null takes an optional field away, or
 * back to its default.
 */
export type ManifestPatch = { [Field in keyof Manifest]?: Manifest[Field] | null };
