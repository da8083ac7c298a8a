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
  /** "binary" makes it a file field, or in `items` a list of files; "uri" and "date-time" are checked. */
  format?: string;
  "x-media"?: "image" | "video" | "audio" | "file";
  /** Allowed file name extensions, with the dot. Default: those of the media type. */
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

/** Prices in dollars. Omitted prices are 0. */
export interface Pricing {
  per_request?: number;
  per_second?: number;
  per_million_input_tokens?: number;
  per_million_cached_tokens?: number;
  per_million_cache_write_tokens?: number;
  per_million_output_tokens?: number;
  per_output?: number;
}

export interface ModelPricing extends Pricing {
  /** Multiplies all prices of predictions in batches. Default: 1. */
  batch_factor?: number;
}

/** A node of a ComfyUI workflow. An input that is `[node id, number]` is a link to another node's output. */
export interface WorkflowNode {
  class_type: string;
  inputs: Record<string, unknown>;
  _meta?: { title?: string; [note: string]: unknown };
}

/** A ComfyUI workflow in the API format: nodes by id. */
export type Workflow = Record<string, WorkflowNode>;

export interface BackendConfig {
  /** A key of `backendTypes`. */
  type: string;
  /** The base URL; the server appends the protocol's path. */
  url?: string;
  model?: string;
  /** The name of a stored secret of the model's owner. */
  secret?: string;
  /** Sent with every call. `{{secret:name}}` stands for a stored secret of the model's owner. */
  headers?: Record<string, string>;
  /** Added to every URL, with secrets as in `headers`. */
  query?: Record<string, string>;
  /** `comfyui` only, as are `inputs` and `outputs`. */
  workflow?: Workflow;
  /** By input: the fields of the workflow that it sets, as `node.field`. */
  inputs?: Record<string, string | string[]>;
  /** By output: the id of the node that makes it. */
  outputs?: Record<string, string>;
  [setting: string]: unknown;
}

/** One of several backends of a model. */
export interface ListedBackend extends BackendConfig {
  /** Unique in the model. Shown in usage and metrics. */
  name: string;
  /** The share of calls among the backends of one priority. */
  weight: number;
  /** Lower ones are tried first. */
  priority: number;
  /** Calls that it runs at once over all nodes. Without it only the model's capacity counts. */
  capacity?: number;
  /** Seconds until the first byte of an answer. Then another backend is tried. */
  timeout_seconds?: number;
  /** Prices of calls that this backend answers, instead of the model's. */
  pricing?: Pricing;
}

/** A model: its card, schemas, prices and backend. */
export interface Manifest {
  title: string;
  description: string;
  kind: "image" | "video" | "text" | "embedding" | "other";
  visibility: "public" | "private";
  /** Predictions that run at once over all nodes; 0 means not active. */
  capacity: number;
  timeout_seconds: number;
  max_queue_seconds: number;
  context_window?: number;
  /** Text models only: tokens of an answer to a chat client that sets no limit. */
  max_output_tokens?: number;
  model_size_in_billions?: number;
  /** False: inputs are not kept with results. Default: true. */
  keep_inputs?: boolean;
  pricing: ModelPricing;
  input: ObjectSchema;
  output: ObjectSchema;
  /** A manifest has either `backend` or `backends`. See `backendsOf`. */
  backend?: BackendConfig;
  backends?: ListedBackend[];
}

/** The fields to change, each as a whole. Null removes an optional field or resets it to its default. */
export type ManifestPatch = { [Field in keyof Manifest]?: Manifest[Field] | null };
