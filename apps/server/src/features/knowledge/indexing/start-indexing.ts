import { createClaimLoop } from "../../../kernel/claim-loop.ts";
import { isUnavailable } from "../../../kernel/errors.ts";
import { type Repeated, repeat } from "../../../kernel/repeat.ts";
import { sleep } from "../../../kernel/sleep.ts";
import type { KnowledgeDeps } from "../knowledge.ts";
import { remarkChanged } from "../settings.ts";
import {
  type ClaimedFile,
  claimFile,
  pauseIndex,
  releaseClaimsOf,
  releaseFile,
  releaseUnknown,
} from "./claim-store.ts";
import { end, indexFile } from "./index-file.ts";
import { hasKilledNodes, nextOf } from "./outcome.rules.ts";

export interface Indexing {
  /** Claims nothing more, and returns the files under way. */
  stop(): Promise<void>;
}

const lookEveryMs = 1_000;
const forgetEveryMs = 60_000;
const remarkEveryMs = 600_000;
const stopWithinMs = 5_000;
const shuttingDown = new Error("The server is shutting down");

/** Claims files in SQL and indexes them. Any number of nodes may do it. */
export async function startIndexing(deps: KnowledgeDeps): Promise<Indexing> {
  const { database, log, nodeId, nodes, parallel } = deps;
  const { sql } = database;
  if (parallel === 0) return { stop: async () => {} };
  const stopping = new AbortController();
  const underWay = new Map<ClaimedFile, Promise<void>>();
  const claims = createClaimLoop<ClaimedFile>({
    freeSlots: () => parallel - underWay.size,
    atOnce: 1,
    async claim() {
      const file = await claimFile(sql, { nodeId, isLastSlot: parallel > 1 && parallel - underWay.size === 1 });
      return file ? [file] : [];
    },
    begin(file) {
      const work = workOn(file).finally(() => {
        underWay.delete(file);
        if (!claims.isStopped) void look();
      });
      underWay.set(file, work);
    },
  });

  const failed = (error: unknown) => {
    if (!isUnavailable(error)) log.warn({ err: error }, "Claiming files to index failed. Trying again.");
  };
  const look = () => claims.look().catch(failed);

  async function workOn(file: ClaimedFile): Promise<void> {
    const { signal } = stopping;
    try {
      if (hasKilledNodes(file.attempts)) {
        const reason = "The server stopped three times while it indexed the file.";
        await end(deps, file, { status: "failed", reason, chunks: [] });
      } else await indexFile(deps, file, signal);
    } catch (error) {
      await settle(file, error).catch((cause: unknown) => {
        // The claim stays until this node forgets it (`releaseUnknown`).
        log.warn({ drive_id: file.index.driveId, err: cause }, "The state of a file to index was not written.");
      });
    }
  }

  async function settle(file: ClaimedFile, error: unknown): Promise<void> {
    const next = nextOf(error, file.attempts, stopping.signal.aborted);
    const { driveId } = file.index;
    switch (next.kind) {
      case "lost":
        // Still ours: the mark names a version that a node of an earlier release has replaced.
        if (await releaseFile(sql, file, { dueInMs: 1_000, isTry: false })) await remarkChanged(database, driveId);
        break;
      case "pause":
        await pauseIndex(sql, file.index, next);
        await releaseFile(sql, file, { dueInMs: 0, isTry: false });
        break;
      case "later":
        await releaseFile(sql, file, { dueInMs: next.inMs, isTry: false });
        break;
      case "retry":
        log.warn({ drive_id: driveId, err: error }, "Indexing a file failed. Trying again.");
        await releaseFile(sql, file, { dueInMs: next.inMs, isTry: true, reason: next.reason });
        break;
      case "fail":
        log.warn({ drive_id: driveId, err: error }, "Indexing a file failed.");
        await end(deps, file, { status: "failed", reason: next.reason, chunks: [] });
    }
  }

  const forget = () => {
    const known = [...underWay.keys()].map(({ path, claim }) => ({ path, claim }));
    return releaseUnknown(sql, nodeId, known);
  };
  const remark = () => remarkChanged(database);

  const upkeepFailed = (error: unknown) => {
    if (!isUnavailable(error)) log.warn({ err: error }, "The check of drive indexes failed. Trying again.");
  };
  const loops: Repeated[] = [
    await nodes.onDead((gone) => releaseClaimsOf(sql, gone(sql, sql`f.claimed_by`))),
    repeat(look, lookEveryMs, failed),
    repeat(forget, forgetEveryMs, upkeepFailed),
    repeat(remark, remarkEveryMs, upkeepFailed),
  ];
  void remark().catch(upkeepFailed);

  return {
    async stop() {
      const stopped = claims.stop();
      stopping.abort(shuttingDown);
      await Promise.all([stopped, ...loops.map((loop) => loop.stop())]);
      await Promise.race([Promise.all(underWay.values()), sleep(stopWithinMs)]);
    },
  };
}
