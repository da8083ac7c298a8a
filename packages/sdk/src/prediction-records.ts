import type { FileLink } from "./files.ts";

export interface StreamDetails {
  input_tokens: number;
  output_tokens: number;
  cached_tokens?: number;
  cache_write_tokens?: number;
  /** Counted by Gantry, because the upstream did not report it. */
  estimated?: boolean;
  [more: string]: unknown;
}

/** A finished prediction. */
export interface Prediction {
  prediction_id: string;
  status: number;
  /** Files are `s3://` addresses here; `files` has a download link under the same name. */
  output_data: Record<string, unknown>;
  /** Seconds, without the time in the queue. */
  inference_time: number;
  files: Record<string, FileLink>;
  /** Only for models that stream their output. */
  stream_details?: StreamDetails;
}

/** An event of a stream: acknowledgement, output, or end. */
export interface StreamEvent {
  prediction_id?: string;
  output_data?: Record<string, unknown>;
  /**
   * Only in `follow`: the prediction was restarted with another text. Discard the earlier text; `output_data` is the
   * new beginning.
   */
  restarted?: boolean;
  status?: number;
  files?: Record<string, FileLink>;
  stream_details?: StreamDetails;
  detail?: unknown;
}

export interface PredictionResult {
  infer_details: {
    /** 202 until it ends; then 200, 499 if cancelled, or the status of its error. */
    status: number;
    user_id: string;
    request_id: string;
    inference_time: number | null;
    stream_details: StreamDetails | null;
  };
  /** The output, or the body of the error; empty until it ends. */
  response: Record<string, unknown>;
  files: Record<string, FileLink>;
}

/** Called when the prediction ends, in any state. */
export interface Webhook {
  url: string;
  headers?: Record<string, string> | undefined;
  query_params?: Record<string, string> | undefined;
}

/** Your own reference, and whether to go first in the model's queue. */
export interface UserPart {
  id: number;
  high_priority?: boolean | null | undefined;
  [more: string]: unknown;
}

/** Rates are per second, over the last minute. */
export interface QueueMetrics {
  ingress_rate: number;
  egress_rate: number;
  messages: number;
  messages_ready: number;
  messages_unacknowledged: number;
}
