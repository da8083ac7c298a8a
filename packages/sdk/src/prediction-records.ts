import type { FileLink } from "./files.ts";

export interface StreamDetails {
  input_tokens: number;
  output_tokens: number;
  cached_tokens?: number;
  cache_write_tokens?: number;
  /** Counted by the service, because the upstream did not tell. */
  estimated?: boolean;
  [more: string]: unknown;
}

/** A prediction that is done. */
export interface Prediction {
  prediction_id: string;
  status: number;
  /** A file is an `s3://` address here, and a link to download it under the same name in `files`. */
  output_data: Record<string, unknown>;
  /** Seconds, without the time in the queue. */
  inference_time: number;
  files: Record<string, FileLink>;
  /** Of models that stream their output. */
  stream_details?: StreamDetails;
}

/** One event of a stream: the acknowledgement, a piece of output, or the end. */
export interface StreamEvent {
  prediction_id?: string;
  output_data?: Record<string, unknown>;
  /** Of `follow`: the run began again and says another text. What came before is void, `output_data` is its beginning. */
  restarted?: boolean;
  status?: number;
  files?: Record<string, FileLink>;
  stream_details?: StreamDetails;
  detail?: unknown;
}

/** A prediction as the result route shows it, ended or not. */
export interface PredictionResult {
  infer_details: {
    /** 202 until it has ended; then 200, 499 when cancelled, or the status of its error. */
    status: number;
    user_id: string;
    request_id: string;
    inference_time: number | null;
    stream_details: StreamDetails | null;
  };
  /** The output; the error's body when it failed; empty until it has ended. */
  response: Record<string, unknown>;
  files: Record<string, FileLink>;
}

/** Called when the prediction has ended, however it ended. */
export interface Webhook {
  url: string;
  headers?: Record<string, string> | undefined;
  query_params?: Record<string, string> | undefined;
}

/** The caller's own reference, and its wish to go first in the model's queue. */
export interface UserPart {
  id: number;
  high_priority?: boolean | null | undefined;
  [more: string]: unknown;
}

/** A model's queue. Rates are a second, over the last minute. */
export interface QueueMetrics {
  ingress_rate: number;
  egress_rate: number;
  messages: number;
  messages_ready: number;
  messages_unacknowledged: number;
}
