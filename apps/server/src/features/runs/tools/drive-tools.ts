import { fault } from "../../../kernel/errors.ts";
import type { ToolInfo } from "../../agents/index.ts";
import { type Drives, filePath } from "../../drives/index.ts";
import { isOwnersOwnRun, type RunScope, type RunTool, type ToolCallRequest, type ToolOutcome } from "./run-tool.ts";
import { mostShownBytes, shownText, takeBytes } from "./shown-content.ts";
import { outcomeOfFailure } from "./tool-failure.ts";

interface At {
  drives: Drives;
  ownerId: string;
  driveId: string;
  path: string;
}

type Work = (at: At, call: ToolCallRequest) => Promise<string>;

const mostItems = 500;
/** Of an item's JSON beside its path. */
const itemBytes = 50;

const works: Readonly<Record<string, Work>> = {
  async drive_list({ drives, ownerId, driveId, path }) {
    const { items, total } = await drives.listItems(ownerId, driveId, path, { limit: mostItems, offset: 0 });
    let left = mostShownBytes;
    const shown = items.filter(({ path: each }) => {
      left -= Buffer.byteLength(each) + itemBytes;
      return left > 0;
    });
    return JSON.stringify({ items: shown, ...(total > shown.length && { more: total - shown.length }) });
  },

  async drive_read({ drives, ownerId, driveId, path }) {
    const { file, body } = await drives.readFile(ownerId, driveId, path, ({ size }) => {
      if (size === 0) return "nothing";
      return size > mostShownBytes ? { start: 0, end: mostShownBytes - 1 } : "whole";
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
    return `Wrote ${file.size} bytes to ${file.path}, ${isNew ? "a new file" : "in the place of what stood there"}`;
  },

  async drive_delete({ drives, ownerId, driveId, path }) {
    await drives.deleteFile(ownerId, driveId, path);
    return `Deleted ${path}`;
  },
};

/** What a call would fail for at this moment, found out without making it. */
const looks: Readonly<Record<string, (at: At) => Promise<unknown>>> = {
  drive_list: ({ drives, ownerId, driveId, path }) => drives.listItems(ownerId, driveId, path, { limit: 1, offset: 0 }),
  drive_read: lookAtFile,
  async drive_write({ drives, ownerId, driveId, path }) {
    filePath(path);
    await drives.readDrive(ownerId, driveId);
  },
  drive_delete: lookAtFile,
};

function lookAtFile({ drives, ownerId, driveId, path }: At): Promise<unknown> {
  return drives.readFile(ownerId, driveId, path, () => "nothing");
}

function ofTool<T>(table: Readonly<Record<string, T>>, id: string): T {
  const found = table[id];
  if (found === undefined) throw new Error(`there is no drive tool ${id}`);
  return found;
}

const notTheirs = "A run by another user may not write the creator's drives";
const notForOthers =
  "The caller's drives are not written here, because another user's agent set this one to work. They are when the caller runs this agent itself";

/** The agent's drives are its creator's. Whoever else runs the agent, or sets it to work, reads them and never writes. */
export function driveTool(info: ToolInfo, { drives }: { drives: Drives }, scope: RunScope): RunTool {
  const [work, look] = [ofTool(works, info.id), ofTool(looks, info.id)];
  const { ownerId } = scope;
  const isRefused = info.kind === "write" && !isOwnersOwnRun(scope);

  function placeOf({ drive_id: given, path = "/" }: ToolCallRequest["arguments"]): At {
    if (isRefused) throw fault("forbidden", scope.userId === ownerId ? notForOthers : notTheirs);
    const drive = driveOf(scope, given);
    if ("refusal" in drive) throw fault("not_found", drive.refusal);
    return { drives, ownerId, driveId: drive.driveId, path: String(path) };
  }

  async function execute(call: ToolCallRequest): Promise<ToolOutcome> {
    try {
      call.signal.throwIfAborted();
      const text = await work(placeOf(call.arguments), call);
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
    target: async (given) => placeOf(given).driveId,
    async preview(call) {
      await look(placeOf(call.arguments));
      return undefined;
    },
  };
}

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
