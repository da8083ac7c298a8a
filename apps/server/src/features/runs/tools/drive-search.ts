import type { ToolInfo } from "../../agents/index.ts";
import type { DriveSearch, DriveSearchResponse, FoundChunk } from "../../knowledge/search/index.ts";
import { type CallUsage, usageOf } from "../call-usage.ts";
import { isHandedOn } from "../work/stopped.ts";
import { findDrive, hiddenNotes } from "./drive-tools.ts";
import { isOwnersOwnRun, type RunScope, type RunTool, type ToolCallRequest, type ToolOutcome } from "./run-tool.ts";
import { maxShownBytes } from "./shown-content.ts";
import { failedWith, outcomeOfFailure } from "./tool-failure.ts";

const defaultLimit = 8;

/** Searches a drive of the agent, which other callers may read too. The caller pays for the embedding of the query. */
export function driveSearchTool(
  info: ToolInfo,
  { driveSearch }: { driveSearch: DriveSearch },
  scope: RunScope,
): RunTool {
  const { ownerId, caller } = scope;

  async function search({ arguments: given, signal, setAside }: ToolCallRequest): Promise<ToolOutcome> {
    if (!caller) throw new Error("tool called after the key was revoked");
    const { query, drive_id, limit = defaultLimit } = given;
    const drive = findDrive(scope, drive_id);
    if ("refusal" in drive) return failedWith(drive.refusal);
    let used: CallUsage | undefined;
    const charge = {
      setAside,
      mustBeCovered: !isOwnersOwnRun(scope),
      onCharged: (outcome: Parameters<typeof usageOf>[0]) => {
        used = usageOf(outcome);
      },
    };
    const { driveId } = drive;
    const asked = { ownerId, driveId, text: String(query), limit: Number(limit), mode: "hybrid" } as const;
    const without = hiddenNotes(scope, driveId);
    try {
      signal.throwIfAborted();
      const stopped = { signal, isHandedOn: () => isHandedOn(signal.reason) };
      const found = await driveSearch.search({ ...asked, without, caller, ...stopped, charge });
      return { text: shownResults(found), isError: false, ...(used && { used }) };
    } catch (error) {
      // A charged call resolves with its usage, also after an abort.
      if (used && used.cost_micros > 0 && signal.aborted)
        return { text: "The search was stopped.", isError: true, used };
      const failed = outcomeOfFailure(error, signal);
      return used ? { ...failed, used } : failed;
    }
  }

  return {
    name: info.id,
    description: info.description,
    parameters: info.parameters,
    kind: info.kind,
    asks: false,
    async mostCost({ query, drive_id }) {
      const drive = findDrive(scope, drive_id);
      if (!caller || "refusal" in drive) return 0;
      // The search itself reports why the model cannot be called.
      return driveSearch.mostCost({ driveId: drive.driveId, text: String(query), caller }).catch(() => 0);
    },
    execute: search,
  };
}

const incomplete = "(Some files are still being indexed. A later search may find more.)";

/** As many results as fit, each with its citation. */
export function shownResults({ results, isComplete }: DriveSearchResponse): string {
  const shown: string[] = [];
  let left = maxShownBytes;
  for (const [at, chunk] of results.entries()) {
    const text = `[${at + 1}] ${citation(chunk)}\n${chunk.text}`;
    left -= Buffer.byteLength(text) + 2;
    if (left < 0) break;
    shown.push(text);
  }
  if (results.length === 0) shown.push("No results.");
  else if (shown.length < results.length) shown.push(`(${results.length - shown.length} more results did not fit.)`);
  if (!isComplete) shown.push(incomplete);
  return shown.join("\n\n");
}

function citation({ path, page, lineFrom, lineTo, heading }: FoundChunk): string {
  const parts = [path];
  if (page !== null) parts.push(`page ${page}`);
  if (lineFrom !== null)
    parts.push(lineTo === null || lineTo === lineFrom ? `line ${lineFrom}` : `lines ${lineFrom}–${lineTo}`);
  return parts.join(", ") + (heading === null ? "" : ` (${heading})`);
}
