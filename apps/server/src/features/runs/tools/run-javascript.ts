import {
  FileRefused,
  type FileWrite,
  type Sandbox,
  type SandboxFiles,
  type SandboxResult,
} from "../../../engines/sandbox/sandbox.ts";
import { Fault, fault, isUnavailable } from "../../../kernel/errors.ts";
import type { ToolInfo } from "../../agents/index.ts";
import { type Drives, directoryPath, filePath } from "../../drives/index.ts";
import { driveAddress, findPath, withoutNotes } from "./drive-tools.ts";
import { isOwnersOwnRun, type RunScope, type RunTool, type ToolCallRequest, type ToolOutcome } from "./run-tool.ts";
import { takeBytes } from "./shown-content.ts";
import { explainFault, failedWith } from "./tool-failure.ts";

const mostListed = 500;

export interface RunJavascriptDeps {
  sandbox: Sandbox;
  drives: Drives;
}

/**
 * Runs a program of the model in the sandbox. The value comes first, because long results are truncated at the end. A
 * program that may write files is a write: after a crash it is not repeated.
 */
export function runJavascriptTool(info: ToolInfo, deps: RunJavascriptDeps, scope: RunScope): RunTool {
  const hasFiles = scope.snapshot.drives.length > 0;
  const mayWrite = hasFiles && isOwnersOwnRun(scope);
  return {
    name: info.id,
    description: hasFiles ? `${info.description} ${aboutFiles(mayWrite)}` : info.description,
    parameters: info.parameters,
    kind: mayWrite ? "write" : info.kind,
    asks: false,
    async execute(call) {
      const { signal, arguments: given } = call;
      const files = hasFiles ? filesOf(deps.drives, scope, mayWrite) : undefined;
      let result: SandboxResult;
      try {
        result = await deps.sandbox.run(String(given.code), { userId: scope.userId, files, signal });
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof Fault) || !isUnavailable(error)) throw error;
        return failedWith(`${error.message}. The program did not run. Try again later.`);
      }
      return outcomeOf(deps.drives, scope, result, call);
    },
  };
}

function aboutFiles(mayWrite: boolean): string {
  const reading =
    "Files of the agent's drive: files.read(path) returns text, files.readBytes(path) a Uint8Array, files.list(path) an array of {path, type, size}. A path such as drive:<drive_id>/notes.md names another drive.";
  if (!mayWrite) return reading;
  return `${reading} files.write(path, textOrBytes) writes a file after the program has ended without an error.`;
}

interface FileAt {
  driveId: string;
  path: string;
}

/** Other users' runs read the creator's drives and never write them, as with the drive tools. */
function filesOf(drives: Drives, scope: RunScope, mayWrite: boolean): SandboxFiles {
  const { ownerId } = scope;
  return {
    read: (path, mostBytes) =>
      shown(path, async () => {
        const at = fileAt(scope, path);
        const { body } = await drives.readFile(ownerId, at.driveId, at.path, ({ size }) => {
          if (size > mostBytes)
            throw fault("file_too_large", `The file has ${size} bytes; ${mostBytes} can still be read`);
          return size === 0 ? "nothing" : "whole";
        });
        return body ? (await takeBytes(body, mostBytes)).bytes : new Uint8Array();
      }),
    list: (path) =>
      shown(path, async () => {
        const at = fileAt(scope, path);
        const page = { limit: mostListed, offset: 0 };
        const { items } = await drives.listItems(ownerId, at.driveId, directoryPath(at.path), page);
        return withoutNotes(scope, at.driveId, items);
      }),
    checkWrite: (path) =>
      shown(path, async () => {
        if (!mayWrite) throw fault("forbidden", "Only the creator of the agent can write to its drives");
        filePath(fileAt(scope, path).path);
      }),
  };
}

/** Faults of the program are shown to it. */
async function shown<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Fault) || error.status >= 500) throw error;
    throw new FileRefused(`${path.slice(0, 200)}: ${explainFault(error)}`);
  }
}

function fileAt(scope: RunScope, given: string): FileAt {
  const address = driveAddress(given);
  if (!address) throw fault("value_error", "A path starts with /, or with drive:<drive_id>/");
  const at = findPath(scope, address.driveId, address.path);
  if ("refusal" in at) throw fault("not_found", at.refusal);
  return at;
}

async function outcomeOf(
  drives: Drives,
  scope: RunScope,
  result: SandboxResult,
  call: ToolCallRequest,
): Promise<ToolOutcome> {
  const parts = [result.ok ? result.value : result.error];
  const written = result.ok && result.writes?.length ? await writeAll(drives, scope, result.writes, call) : undefined;
  if (written) parts.push(written.text);
  if (result.logs !== "") parts.push(`Logged:\n${result.logs}`);
  return { text: parts.join("\n\n"), isError: !result.ok || written?.isError === true };
}

/** Writes one file after the other, and reports those that were written if one fails. */
async function writeAll(
  drives: Drives,
  scope: RunScope,
  writes: readonly FileWrite[],
  { signal }: ToolCallRequest,
): Promise<ToolOutcome> {
  const done: string[] = [];
  for (const { path, bytes, isText } of writes) {
    try {
      const at = fileAt(scope, path);
      const declaredType = isText ? "text/plain" : "application/octet-stream";
      const options = { mode: "put", declaredType, signal } as const;
      const { file, isNew } = await drives.writeFile(scope.ownerId, at.driveId, at.path, bytes, options);
      done.push(`${path} (${file.size} bytes, ${isNew ? "new" : "replaced"})`);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof Fault)) throw error;
      const left = writes.length - done.length - 1;
      const rest = left > 0 ? ` ${left} more were not written.` : "";
      return failedWith(`${listed(done)}Not written: ${path}: ${explainFault(error)}.${rest}`);
    }
  }
  return { text: listed(done).trimEnd(), isError: false };
}

function listed(done: readonly string[]): string {
  return done.length === 0 ? "" : `Written:\n${done.join("\n")}\n`;
}
