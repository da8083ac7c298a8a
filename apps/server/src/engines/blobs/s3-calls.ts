import type { S3Client, ServiceInputTypes, ServiceOutputTypes } from "@aws-sdk/client-s3";
import { asStoreFault, isMissing } from "./s3-errors.ts";

type Command<I extends ServiceInputTypes, O extends ServiceOutputTypes> = Parameters<
  typeof S3Client.prototype.send<I, O>
>[0];

export interface CallOptions {
  /** Size of the request body, which extends the deadline. */
  bytes?: number;
  signal?: AbortSignal | undefined;
}

/**
 * Sends a command with a deadline. Rejects with the signal's reason, `service_unavailable` or `storage_full`. Errors for a
 * missing object or an invalid range are passed through.
 */
export type S3Call = <I extends ServiceInputTypes, O extends ServiceOutputTypes>(
  command: Command<I, O>,
  options?: CallOptions,
) => Promise<O>;

export const callMs = 20_000;
/** A slower connection counts as broken. */
const slowestBytesPerMs = 128;

export function createS3Call(client: S3Client, patienceMs = callMs): S3Call {
  return async (command, { bytes = 0, signal } = {}) => {
    signal?.throwIfAborted();
    const deadline = new AbortController();
    const timer = setTimeout(
      () => deadline.abort(new Error("S3 did not answer in time")),
      patienceMs + bytes / slowestBytesPerMs,
    );
    const stop = () => deadline.abort(signal?.reason);
    signal?.addEventListener("abort", stop);
    try {
      return await client.send(command, { abortSignal: deadline.signal });
    } catch (error) {
      signal?.throwIfAborted();
      if (isMissing(error) || (error instanceof Error && error.name === "InvalidRange")) throw error;
      throw asStoreFault(deadline.signal.aborted ? deadline.signal.reason : error);
    } finally {
      // The response body is read without this deadline (see s3-download.ts).
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
    }
  };
}
