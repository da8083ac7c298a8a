import type { AgentMemory } from "@gantry/wire";
import type { Database } from "../../../engines/database/database.ts";
import { memoryOf } from "../tools/agent-memory.ts";
import type { RunScope } from "../tools/run-tool.ts";
import { findNotes, keepNotes } from "./notes-store.ts";

export interface NotesDeps {
  database: Pick<Database, "sql">;
  readNotes(ownerId: string, memory: AgentMemory): Promise<string>;
}

/** The notes as they were when the run started: stored with the run, so that every node shows the model the same text. */
export async function startingNotes(
  { database: { sql }, readNotes }: NotesDeps,
  scope: Pick<RunScope, "runId" | "userId" | "ownerId" | "connectors" | "caller" | "snapshot">,
): Promise<string | undefined> {
  const memory = memoryOf(scope);
  if (!memory) return undefined;
  const kept = await findNotes(sql, scope.runId);
  return kept ?? keepNotes(sql, scope.runId, (await readNotes(scope.ownerId, memory)).toWellFormed());
}
