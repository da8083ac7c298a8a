import { setTimeout } from "node:timers/promises";
import type { AgentMemory } from "@gantry/wire";
import { Fault, fault } from "../../../kernel/errors.ts";
import type { ToolInfo } from "../../agents/index.ts";
import type { Drives } from "../../drives/index.ts";
import { isOpenRun, type RunScope, type RunTool, type ToolCallRequest, type ToolOutcome } from "./run-tool.ts";
import { shownText, takeBytes } from "./shown-content.ts";
import { failedWith, outcomeOfFailure } from "./tool-failure.ts";

/** Bytes of the notes that a run starts with, and of the whole file. */
const mostOffered = 16_384;
const mostStored = 65_536;
const mostTries = 30;
const longestPauseMs = 200;

type NotesDrives = Pick<Drives, "readFile" | "writeFile">;

interface Notes {
  text: string;
  /** Undefined: no file. */
  etag: string | undefined;
  isWhole: boolean;
}

/** The memory that a run may use. Undefined for runs by other users, under their agents, and by keys limited to models. */
export function memoryOf(scope: Pick<RunScope, "userId" | "ownerId" | "connectors" | "caller" | "snapshot">) {
  return isOpenRun(scope) ? (scope.snapshot.memory ?? undefined) : undefined;
}

/** The beginning of the notes; empty without a file or drive. */
export async function readNotes(drives: NotesDrives, ownerId: string, memory: AgentMemory): Promise<string> {
  try {
    const { text, isWhole } = await openNotes(drives, ownerId, memory, mostOffered);
    return isWhole ? text : `${text}\n[cut: the notes are longer than ${mostOffered / 1024} KB]`;
  } catch (error) {
    if (error instanceof Fault && error.status < 500) return "";
    throw error;
  }
}

async function openNotes(
  drives: NotesDrives,
  ownerId: string,
  { drive, path }: AgentMemory,
  most: number,
): Promise<Notes> {
  const { file, body } = await drives.readFile(ownerId, drive, path, ({ size }) => {
    if (size === 0) return "nothing";
    return size > most ? { start: 0, end: most - 1 } : "whole";
  });
  const isWhole = file.size <= most;
  const bytes = body ? (await takeBytes(body, most)).bytes : Buffer.alloc(0);
  const text = isWhole ? shownText({ bytes, isWhole }) : whole(bytes);
  if (text === undefined)
    throw fault("conflict", `The file ${path} is not a text file. Delete it or choose another path.`);
  return { text: text.replaceAll("\0", ""), etag: file.etag, isWhole };
}

/** Without the part of a character at the end. */
function whole(bytes: Buffer): string {
  return new TextDecoder().decode(bytes).replace(/\uFFFD+$/, "");
}

/** Changes the notes. Runs that change them at the same time repeat their change on the newer file, so no note is lost. */
export function updateMemoryTool(info: ToolInfo, { drives }: { drives: NotesDrives }, scope: RunScope): RunTool {
  const memory = memoryOf(scope);
  return {
    name: info.id,
    description: info.description,
    parameters: info.parameters,
    kind: info.kind,
    asks: false,
    async execute(call) {
      if (!memory) return failedWith("The agent has no memory in this run");
      try {
        return await update(drives, scope.ownerId, memory, call);
      } catch (error) {
        return outcomeOfFailure(error, call.signal);
      }
    },
    target: async () => `${memory?.drive}:${memory?.path}`,
  };
}

class NotesChanged extends Error {}

async function update(
  drives: NotesDrives,
  ownerId: string,
  memory: AgentMemory,
  { arguments: given, signal }: ToolCallRequest,
): Promise<ToolOutcome> {
  for (let tries = 0; tries < mostTries; tries++) {
    signal.throwIfAborted();
    const before = await openNotes(drives, ownerId, memory, mostStored).catch((error: unknown) => {
      // Without a file, the first note creates it. A missing drive fails below.
      if (error instanceof Fault && error.type === "not_found") return { text: "", etag: undefined, isWhole: true };
      throw error;
    });
    const after = changed(before, given);
    if ("refusal" in after) return failedWith(after.refusal);
    try {
      await drives.writeFile(ownerId, memory.drive, memory.path, Buffer.from(after.text), {
        mode: "put",
        declaredType: "text/markdown",
        signal,
        precondition(current) {
          if (current !== before.etag) throw new NotesChanged();
        },
      });
      const size = Buffer.byteLength(after.text);
      const note = size > mostOffered ? ` Runs start with the first ${mostOffered / 1024} KB only: shorten them.` : "";
      return { text: `The notes have ${size} bytes now.${note}`, isError: false };
    } catch (error) {
      if (!(error instanceof NotesChanged)) throw error;
      await setTimeout(Math.random() * longestPauseMs, undefined, { signal });
    }
  }
  return failedWith("Other runs change the notes all the time. Try again later.");
}

function changed(
  { text, isWhole }: Notes,
  given: ToolCallRequest["arguments"],
): { text: string } | { refusal: string } {
  const [added, old] = [String(given.new ?? ""), given.old === undefined ? "" : String(given.old)];
  if (!isWhole)
    return { refusal: `The file of the notes is larger than ${mostStored / 1024} KB. Its owner must shorten it.` };
  if (old === "" && added.trim() === "")
    return { refusal: "Give the note to add as `new`, or the text to replace as `old`." };
  const after = old === "" ? appended(text, added) : replaced(text, old, added);
  if (typeof after === "string" && Buffer.byteLength(after) > mostStored) {
    return {
      refusal: `The notes can have at most ${mostStored / 1024} KB. Replace or delete some of them with \`old\` first.`,
    };
  }
  return typeof after === "string" ? { text: after } : after;
}

function appended(text: string, added: string): string {
  const start = text === "" || text.endsWith("\n") ? text : `${text}\n`;
  return `${start}${added.trimEnd()}\n`;
}

function replaced(text: string, old: string, added: string): string | { refusal: string } {
  const at = text.indexOf(old);
  if (at === -1) return { refusal: `The notes do not contain this text. They are:\n${text.slice(0, mostOffered)}` };
  if (text.indexOf(old, at + 1) !== -1) {
    return { refusal: "The notes contain this text more than once. Give more of the text around it as `old`." };
  }
  return `${text.slice(0, at)}${added}${text.slice(at + old.length)}`;
}
