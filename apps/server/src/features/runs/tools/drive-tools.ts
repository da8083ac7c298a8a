import { fault } from "../../../kernel/errors.ts";
import type { ToolInfo } from "../../agents/index.ts";
import { type Drives, directoryPath, filePath, type Item } from "../../drives/index.ts";
import {
  isOpenRun,
  isOwnersOwnRun,
  type RunScope,
  type RunTool,
  type ToolCallRequest,
  type ToolOutcome,
} from "./run-tool.ts";
import { maxShownBytes, shownText, takeBytes } from "./shown-content.ts";
import { outcomeOfFailure } from "./tool-failure.ts";

interface DrivePath {
  /** Leaves out the notes of the agent, in runs without memory. */
  shown(items: readonly Item[]): Item[];
  drives: Drives;
  ownerId: string;
  driveId: string;
  path: string;
}

type Work = (at: DrivePath, call: ToolCallRequest) => Promise<string>;

const mostItems = 500;
/** JSON of an item without its path. */
const itemBytes = 50;

const works: Readonly<Record<string, Work>> = {
  async drive_list({ drives, ownerId, driveId, path, shown: visible }) {
    const { items: all, total: count } = await drives.listItems(ownerId, driveId, path, {
      limit: mostItems,
      offset: 0,
    });
    const items = visible(all);
    const total = count - (all.length - items.length);
    let left = maxShownBytes;
    const shown = items.filter(({ path: each }) => {
      left -= Buffer.byteLength(each) + itemBytes;
      return left > 0;
    });
    return JSON.stringify({ items: shown, ...(total > shown.length && { more: total - shown.length }) });
  },

  async drive_read({ drives, ownerId, driveId, path }) {
    const { file, body } = await drives.readFile(ownerId, driveId, path, ({ size }) => {
      if (size === 0) return "nothing";
      return size > maxShownBytes ? { start: 0, end: maxShownBytes - 1 } : "whole";
    });
    if (!body) return "(the file is empty)";
    const { bytes } = await takeBytes(body);
    const text = shownText({ bytes, isWhole: bytes.length === file.size }, { total: file.size });
    return text ?? `[binary: ${file.contentType}, ${file.size} bytes]`;
  },

  async drive_write({ drives, ownerId, driveId, path }, { arguments: { content }, signal }) {
    const bytes = Buffer.from(String(content));
    const options = { mode: "put", declaredType: "text/plain", signal } as const;
    const { file, isNew } = await drives.writeFile(ownerId, driveId, path, bytes, options);
    return `Wrote ${file.size} bytes to ${file.path}, ${isNew ? "a new file" : "replacing the old file"}`;
  },

  async drive_delete({ drives, ownerId, driveId, path }) {
    await drives.deleteFile(ownerId, driveId, path);
    return `Deleted ${path}`;
  },
};

/** Checks that find out whether a call would fail now. */
const checks: Readonly<Record<string, (at: DrivePath) => Promise<unknown>>> = {
  drive_list: ({ drives, ownerId, driveId, path }) => drives.listItems(ownerId, driveId, path, { limit: 1, offset: 0 }),
  drive_read: checkFile,
  async drive_write({ drives, ownerId, driveId, path }) {
    filePath(path);
    await drives.readDrive(ownerId, driveId);
  },
  drive_delete: checkFile,
};

function checkFile({ drives, ownerId, driveId, path }: DrivePath): Promise<unknown> {
  return drives.readFile(ownerId, driveId, path, () => "nothing");
}

function byId<T>(table: Readonly<Record<string, T>>, id: string): T {
  const found = table[id];
  if (found === undefined) throw new Error(`unknown drive tool ${id}`);
  return found;
}

const foreignDrive = "Only the creator of the agent can write to its drives";
const calledByOthers =
  "This agent was called by another user's agent, so it cannot write to your drives. Run it directly instead.";

/** Drives belong to the agent's creator. Other callers, and other users' agents, can only read them. */
export function driveTool(info: ToolInfo, { drives }: { drives: Drives }, scope: RunScope): RunTool {
  const [work, check] = [byId(works, info.id), byId(checks, info.id)];
  const { ownerId } = scope;
  const isRefused = info.kind === "write" && !isOwnersOwnRun(scope);

  function pathOf({ drive_id: given, path = "/" }: ToolCallRequest["arguments"]): DrivePath {
    if (isRefused) throw fault("forbidden", scope.userId === ownerId ? calledByOthers : foreignDrive);
    const at = findPath(scope, given, String(path));
    if ("refusal" in at) throw fault("not_found", at.refusal);
    return { drives, ownerId, ...at, shown: (items) => withoutNotes(scope, at.driveId, items) };
  }

  async function execute(call: ToolCallRequest): Promise<ToolOutcome> {
    try {
      call.signal.throwIfAborted();
      const text = await work(pathOf(call.arguments), call);
      return { text, isError: false };
    } catch (error) {
      return outcomeOfFailure(error, call.signal);
    }
  }

  return {
    name: info.id,
    description: info.description,
    parameters: info.parameters,
    kind: info.kind,
    asks: info.id === "drive_delete",
    execute,
    target: async (given) => pathOf(given).driveId,
    async preview(call) {
      await check(pathOf(call.arguments));
      return undefined;
    },
  };
}

/** A run can use only the drives of its agent; the first one is the default. */
export function findDrive(scope: RunScope, given: unknown): { driveId: string } | { refusal: string } {
  const { drives } = scope.snapshot;
  const [first] = drives;
  if (first === undefined) return { refusal: "The agent has no drive" };
  if (given === undefined || given === null || given === "") return { driveId: first };
  if (typeof given === "string" && drives.includes(given)) return { driveId: given };
  // Only the creator may see the ids of the drives.
  const instead = isOpenRun(scope) ? `Its drives: ${drives.join(", ")}` : "Leave drive_id out to use the first drive.";
  return { refusal: `The agent does not have this drive. ${instead}` };
}

/** A file or directory of a drive that the run can use. */
export function findPath(
  scope: RunScope,
  given: unknown,
  path: string,
): { driveId: string; path: string } | { refusal: string } {
  const drive = findDrive(scope, given);
  if ("refusal" in drive) return drive;
  const hidden = hiddenNotes(scope, drive.driveId);
  if (hidden !== undefined && directoryPath(path) === hidden) return { refusal: "File not found" };
  return { driveId: drive.driveId, path };
}

/** The notes of the agent in this drive, if the run has no memory: they are about the agent's owner. */
export function hiddenNotes(scope: RunScope, driveId: string): string | undefined {
  const { memory } = scope.snapshot;
  return memory?.drive === driveId && !isOpenRun(scope) ? filePath(memory.path) : undefined;
}

export function withoutNotes<T extends { path: string }>(scope: RunScope, driveId: string, items: readonly T[]): T[] {
  const hidden = hiddenNotes(scope, driveId);
  return items.filter(({ path }) => path !== hidden);
}

/** `drive:<drive_id>/<path>`, or `/<path>` on the first drive; undefined for anything else. */
export function driveAddress(text: string): { driveId: string | undefined; path: string } | undefined {
  if (text.startsWith("/")) return { driveId: undefined, path: text };
  const [, driveId, path] = /^drive:([^/]*)(\/.*)$/is.exec(text) ?? [];
  return driveId === undefined || path === undefined ? undefined : { driveId, path };
}
