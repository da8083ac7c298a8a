import { isOwnersOwnRun, type RunScope } from "./run-tool.ts";

/** A run has the drives of its agent and no others. The first one is meant where none is named. */
export function driveOf(scope: RunScope, given: unknown): { driveId: string } | { refusal: string } {
  const { drives } = scope.snapshot;
  const [first] = drives;
  if (first === undefined) return { refusal: "The agent has no drive" };
  if (given === undefined || given === null || given === "") return { driveId: first };
  if (typeof given === "string" && drives.includes(given)) return { driveId: given };
  // Which ones are the creator's is nobody else's business.
  const instead = isOwnersOwnRun(scope)
    ? `It has: ${drives.join(", ")}`
    : "Leave the drive out: then its first one is meant";
  return { refusal: `The agent does not have this drive. ${instead}` };
}

/** `drive:<drive_id>/<path>`, or `/<path>` on the first drive; undefined for anything else. */
export function driveAddress(text: string): { driveId: string | undefined; path: string } | undefined {
  if (text.startsWith("/")) return { driveId: undefined, path: text };
  const [, driveId, path] = /^drive:([^/]*)(\/.*)$/is.exec(text) ?? [];
  return driveId === undefined || path === undefined ? undefined : { driveId, path };
}
