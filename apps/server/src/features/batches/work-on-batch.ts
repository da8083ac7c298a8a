import { sleep } from "../../kernel/sleep.ts";
import { everythingOf } from "../accounts/index.ts";
import type { ProtocolFile } from "../files/index.ts";
import type { ClaimedBatch, LineError } from "./batch.ts";
import { type BatchEnd, beginEnd, beginLines, endBatch, failBatch, stopBatch } from "./claim-store.ts";
import { type BatchesDeps, LostClaim, leaseMs } from "./context.ts";
import { feedLines, takeLines, type UnfedLine } from "./feed-lines.ts";
import { findInput } from "./find-input.ts";
import { countEnded, giveUpLines, mayBeCovered, type Progress, selectLive, selectUnfed } from "./line-store.ts";
import { validateFile } from "./validate-file.ts";
import { writeResults } from "./write-results.ts";

/** Predictions of one batch that wait or run at once, so that a batch does not flood the queue. */
const mostOpen = 100;
/** New lines are read when this many may follow. */
const mostAtOnce = 25;
const shortPauseMs = 50;
const longestPauseMs = 1_000;
const longestSleepMs = leaseMs / 4;
/** Refusals for funds in a row, with nothing reserved that may return, after which the money has ended. */
const lastRefusal = 4;

/**
 * Works on a batch until it ends, or until its turn is over. Everything is stored, so another node continues at any point:
 * a line is written before its prediction, which has the same id on every node. Returns how long the batch should wait for
 * its next turn.
 *
 *     read lines ──► write rows ──► queue predictions ──► count ended ──► write results
 *          ▲                                                  │
 *          └──────────────────────────────────────────────────┘
 */
export async function workOnBatch(
  deps: BatchesDeps,
  batch: ClaimedBatch,
  { turnMs, signal }: { turnMs: number; signal: AbortSignal },
): Promise<number> {
  const { sql } = deps.database;
  const file = await findInput(deps.files, everythingOf(batch.userId), batch.inputFileId);
  if (batch.status === "validating" && !(await validate(deps, batch, file, signal))) return 0;
  const turnEnd = performance.now() + turnMs;
  let unfed: UnfedLine[] = await selectUnfed(sql, batch.id);
  let limitedUntil = 0;
  let refusals = 0;
  for (let pauseMs = 0; ; ) {
    signal.throwIfAborted();
    const progress = await countEnded(sql, batch, leaseMs);
    if (!progress) throw new LostClaim();
    if (progress.isExpired && progress.stopCode === null) await stopBatch(sql, batch, "batch_expired");
    const isStopped = progress.isExpired || progress.stopCode !== null;
    const isRead = file ? batch.nextByte >= file.size : hasAllLines(batch, progress);
    const isOver = isStopped ? await endLines(deps, batch, progress) : isRead && progress.open === 0;
    if (isOver) {
      await finish(deps, batch, signal);
      return 0;
    }
    const now = performance.now();
    // Not longer, because the next turn also notices that the batch was cancelled.
    if (now > turnEnd) return Math.min(Math.max(0, limitedUntil - now), longestSleepMs);
    if (isStopped) {
      await sleep(shortPauseMs * 4, signal);
      continue;
    }
    pauseMs = progress.ended > 0 ? shortPauseMs : Math.min(longestPauseMs, Math.max(shortPauseMs, pauseMs * 1.5));
    const free = mostOpen - progress.open;
    let isLost = !file && (!isRead || unfed.length > 0);
    if (file && unfed.length === 0 && !isRead && free >= mostAtOnce) {
      const taken = await takeLines(deps, batch, file, free);
      if (!taken) isLost = true;
      else if (taken.length > 0) [unfed, pauseMs] = [taken, shortPauseMs];
    }
    if (isLost) await stopBatch(sql, batch, "input_file_not_found");
    if (file && unfed.length > 0) {
      const asked = unfed.length;
      const fed = await feedLines(deps, batch, unfed, { file, secondsLeft: progress.secondsLeft, signal });
      if (fed.kind === "stop") await stopBatch(sql, batch, fed.code);
      if (fed.kind === "wait") {
        pauseMs = Math.max(fed.pauseMs, pauseMs);
        limitedUntil = performance.now() + fed.pauseMs;
      }
      if (fed.kind === "no_funds") {
        // What runs returns the part of its reservation that it does not use. It may also have ended since the refusal.
        const isFinal = unfed.length === asked && !(await mayBeCovered(sql, batch));
        refusals = isFinal ? refusals + 1 : 0;
        if (refusals === lastRefusal) await stopBatch(sql, batch, "insufficient_quota");
        else pauseMs = isFinal ? longestPauseMs / 4 : Math.max(longestPauseMs / 4, pauseMs);
      } else refusals = 0;
    }
    await sleep(Math.min(pauseMs, longestSleepMs), signal);
  }
}

function hasAllLines({ total }: ClaimedBatch, { completed, failed, open }: Progress): boolean {
  return completed + failed + open >= total;
}

/** False if the batch has failed. */
async function validate(
  { database, files }: BatchesDeps,
  batch: ClaimedBatch,
  file: ProtocolFile | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  const stream = file && (await files.open(file));
  if (!stream) {
    const message = "The input file does not exist.";
    await failBatch(database.sql, batch, [withoutLine("input_file_not_found", message)]);
    return false;
  }
  const { total, errors } = await validateFile(stream, batch.endpoint, signal);
  if (errors.length > 0) {
    await failBatch(database.sql, batch, errors);
    return false;
  }
  if (await beginLines(database.sql, batch, total)) batch.total = total;
  return true;
}

function withoutLine(code: string, message: string): LineError {
  return { code, message, param: "input_file_id", line: null };
}

/** True when no prediction of a stopped batch is under way. */
async function endLines(
  { database, predictions }: BatchesDeps,
  batch: ClaimedBatch,
  { stopCode, open }: Progress,
): Promise<boolean> {
  const { sql } = database;
  if (open === 0) return true;
  const live = await selectLive(sql, batch.id);
  if (live.length === 0) {
    await giveUpLines(sql, batch);
    return false;
  }
  // Lines that were accepted before the money ended are paid for, so they may end.
  if (stopCode === "batch_expired" || stopCode === "batch_cancelled" || stopCode === null) {
    const address = { userId: batch.userId, onlyKeyIds: null };
    for (const one of live) await predictions.cancel({ ...address, ...one });
  }
  return false;
}

async function finish(deps: BatchesDeps, batch: ClaimedBatch, signal: AbortSignal): Promise<void> {
  const { sql } = deps.database;
  await beginEnd(sql, batch);
  const progress = await countEnded(sql, batch, leaseMs);
  if (!progress) throw new LostClaim();
  const { stopCode } = progress;
  const written = await writeResults(deps, batch, stopCode, signal);
  const end: BatchEnd = { ...written, status: endOf(stopCode) };
  if (await endBatch(sql, batch, end)) return;
  // The node that has the claim now writes them too.
  for (const id of [written.outputFileId, written.errorFileId]) {
    if (id !== undefined) await deps.files.delete(everythingOf(batch.userId), id).catch(() => {});
  }
  throw new LostClaim();
}

function endOf(stopCode: Progress["stopCode"]): BatchEnd["status"] {
  if (stopCode === "batch_cancelled") return "cancelled";
  return stopCode === "batch_expired" ? "expired" : "completed";
}
