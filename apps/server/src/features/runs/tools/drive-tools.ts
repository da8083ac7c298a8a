import type { ToolInfo } from "../../agents/index.ts";
import type { Drives } from "../../drives/index.ts";
import { driveOf } from "./agent-drive.ts";
import type { RunScope, RunTool, ToolCallRequest, ToolOutcome } from "./run-tool.ts";
import { mostShownBytes, shownText, takeBytes } from "./shown-content.ts";
import { failedWith, outcomeOfFailure } from "./tool-failure.ts";

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

function workOf(id: string): Work {
  const work = works[id];
  if (!work) throw new Error(`there is no drive tool ${id}`);
  return work;
}

/** The agent's drives are its creator's. Whoever else runs the agent reads them and never writes. */
export function driveTool(info: ToolInfo, { drives }: { drives: Drives }, scope: RunScope): RunTool {
  const work = workOf(info.id);
  const { ownerId } = scope;
  const isRefused = info.kind === "write" && scope.caller.userId !== ownerId;

  async function execute(call: ToolCallRequest): Promise<ToolOutcome> {
    if (isRefused) return failedWith("A run by another user may not write the creator's drives");
    const { drive_id: given, path = "/" } = call.arguments;
    const drive = driveOf(scope, given);
    if ("refusal" in drive) return failedWith(drive.refusal);
    try {
      call.signal.throwIfAborted();
      const text = await work({ drives, ownerId, driveId: drive.driveId, path: String(path) }, call);
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
  };
}
