import { newId } from "@gantry/wire";
import { Fault, fault, isUnavailable } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import type { Caller } from "../accounts/index.ts";
import { KeyTakenOver } from "../predictions/index.ts";
import type { ClaimedBatch, FedLine, StopCode } from "./batch.ts";
import { renewClaim } from "./claim-store.ts";
import { type BatchesDeps, LostClaim, leaseMs } from "./context.ts";
import { isLineError, readLine } from "./line.rules.ts";
import { insertLines, type NewLine, refuseLine, selectUnfed } from "./line-store.ts";
import { readLines } from "./read-lines.ts";

/** A line whose prediction is not accepted yet. */
export interface UnfedLine extends FedLine {
  /** Undefined if an earlier claim has read it. */
  body?: Record<string, unknown>;
}

/** Read and held in memory at once. */
const mostReadBytes = 8 * 1024 * 1024;

/** Reads the next lines of the file and stores where they are. Undefined if the bytes of the file are lost. */
export async function takeLines(
  { database, files, protocol }: BatchesDeps,
  batch: ClaimedBatch,
  file: { key: string; size: number },
  most: number,
): Promise<UnfedLine[] | undefined> {
  const stream = await files.open(file, batch.nextByte);
  if (!stream) return undefined;
  const lines: (NewLine & UnfedLine)[] = [];
  const next = { line: batch.nextLine, byte: batch.nextByte };
  let bytesRead = 0;
  let isWhole = true;
  for await (const found of readLines(stream, next)) {
    const { line, startByte, bytes } = found;
    if (lines.length === most || bytesRead + bytes > mostReadBytes) {
      isWhole = false;
      break;
    }
    bytesRead += bytes;
    Object.assign(next, { line: line + 1, byte: startByte + bytes + 1 });
    const read = readLine(found, batch.endpoint);
    // All lines were valid when the batch began.
    if (isLineError(read)) continue;
    const { customId, body } = read;
    const asked = protocol.askedOf(batch.endpoint, body);
    lines.push({ line, startByte, bytes, customId, body, asked, predictionId: newId("prediction") });
  }
  if (isWhole) next.byte = file.size;
  if (lines.length === 0) return undefined;
  if (!(await insertLines(database.sql, batch, lines, next))) return [];
  Object.assign(batch, { nextLine: next.line, nextByte: next.byte });
  return lines;
}

export type Fed =
  | { kind: "all" }
  /** The rest must wait for a limit. */
  | { kind: "wait"; pauseMs: number }
  | { kind: "no_funds" }
  | { kind: "stop"; code: StopCode };

type FedOne = Fed | { kind: "fed" };

const fedTogether = 8;
/** Without a hint of when the limit allows more. */
const usualPauseMs = 1_000;

/** Queues lines, and removes those that were accepted or refused from the list. */
export async function feedLines(
  deps: BatchesDeps,
  batch: ClaimedBatch,
  lines: UnfedLine[],
  feeding: { file: { key: string; size: number }; secondsLeft: number; signal: AbortSignal },
): Promise<Fed> {
  while (lines.length > 0) {
    const caller = await deps.accounts.callerOfKey(batch.keyId);
    // A key never moves to another user.
    if (!caller || caller.userId !== batch.userId) return { kind: "stop", code: "invalid_api_key" };
    const some = lines.slice(0, fedTogether);
    feeding.signal.throwIfAborted();
    // All of them must settle before the claim is given up, because the next one begins with the lines that were not fed.
    const settled = await Promise.allSettled(some.map((line) => feedLine(deps, batch, line, { ...feeding, caller })));
    const fed = settled.map((one) => {
      if (one.status === "rejected") throw one.reason;
      return one.value;
    });
    const left = some.filter((_, n) => fed[n]?.kind !== "fed");
    lines.splice(0, some.length, ...left);
    const halt = fed.find((one): one is Fed => one.kind !== "fed");
    if (halt) return halt;
  }
  return { kind: "all" };
}

async function feedLine(
  deps: BatchesDeps,
  batch: ClaimedBatch,
  line: UnfedLine,
  { caller, file, secondsLeft, signal }: Parameters<typeof feedLines>[3] & { caller: Caller },
): Promise<FedOne> {
  const { database, predictions, protocol, telemetry, log } = deps;
  const { predictionId } = line;
  line.body ??= await bodyOf(deps, batch, line, file);
  if (!line.body) return { kind: "stop", code: "input_file_not_found" };
  const { id: batchId, endpoint, keepsInputs: keepsInput } = batch;
  const asked = { endpoint, body: line.body, batchId, predictionId, keepsInput, caller, signal };
  const prepared = await protocol.prepare(asked).catch((error: unknown) => asRefusal(error, log));
  if (prepared instanceof Fault) return refuse(deps, batch, line, prepared);
  const { store, discard, ...request } = prepared;
  try {
    await store?.();
    const accept = () =>
      predictions.accept({
        ...request,
        predictionId,
        caller,
        base: batch.baseUrl,
        batch: { queueSeconds: secondsLeft + queueMarginSeconds },
        holdsKey: () => renewClaim(database.sql, batch, leaseMs),
      });
    const attributes = { "gantry.batch_id": batchId, "gantry.prediction_id": predictionId };
    await telemetry.inTrace(() => ({ name: "batch line", kind: "producer", attributes }), accept);
    return { kind: "fed" };
  } catch (error) {
    if (error instanceof KeyTakenOver && !(await renewClaim(database.sql, batch, leaseMs))) throw new LostClaim();
    if (!(error instanceof Fault)) {
      // The line may have been accepted, by this claim or by an earlier one that was slow.
      const unfed = await selectUnfed(database.sql, batch.id);
      if (unfed.every((one) => one.line !== line.line)) return { kind: "fed" };
      throw error;
    }
    if (isUnavailable(error)) throw error;
    await discard?.();
    return judge(error) ?? refuse(deps, batch, line, error);
  }
}

/** The worker of the batch cancels what still waits at its end. */
const queueMarginSeconds = 3_600;

/** A refusal that concerns all lines. */
function judge({ type, retryAfterSeconds }: Fault): Fed | undefined {
  if (type === "rate_limit" || type === "concurrent_requests_limit") {
    return { kind: "wait", pauseMs: retryAfterSeconds === undefined ? usualPauseMs : retryAfterSeconds * 1000 };
  }
  if (type === "insufficient_funds") return { kind: "no_funds" };
  if (type === "unauthorized") return { kind: "stop", code: "invalid_api_key" };
  return undefined;
}

/** A line that the program cannot read must not hold up the others. What failed outside of it is tried again. */
function asRefusal(error: unknown, log: Log): Fault {
  if (error instanceof Fault && !isUnavailable(error)) return error;
  if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
  log.error({ err: error }, "a line of a batch could not be read");
  return fault("internal_server_error", "Internal server error", { cause: error });
}

async function refuse(
  { database, protocol }: BatchesDeps,
  batch: ClaimedBatch,
  { line }: FedLine,
  failure: Fault,
): Promise<FedOne> {
  await refuseLine(database.sql, batch, { line, ...protocol.failure(failure) });
  return { kind: "fed" };
}

/** Undefined if the bytes of the file are lost. */
async function bodyOf(
  { files }: BatchesDeps,
  { endpoint }: ClaimedBatch,
  { line, startByte, bytes }: FedLine,
  { key }: { key: string },
): Promise<Record<string, unknown> | undefined> {
  const stream = await files.open({ key, size: startByte + bytes }, startByte);
  if (!stream) return undefined;
  for await (const found of readLines(stream, { line, byte: startByte })) {
    const read = readLine(found, endpoint);
    return isLineError(read) ? undefined : read.body;
  }
  return undefined;
}
