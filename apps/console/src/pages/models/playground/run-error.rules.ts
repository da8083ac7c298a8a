import { GantryError } from "@gantry/sdk";

/** The error of a prediction came with the request that looked for it. This names the request that created it instead. */
export function withRequestId(error: unknown, requestId: string | undefined): unknown {
  if (!(error instanceof GantryError) || error.type === "connection_error") return error;
  const { status, type, message, retryable, body, issues, predictionId } = error;
  return new GantryError({ status, type, message, retryable, body, issues, predictionId, requestId });
}
