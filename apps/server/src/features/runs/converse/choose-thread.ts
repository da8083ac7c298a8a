import { newId } from "@gantry/wire";
import type { Sql } from "../../../engines/database/database.ts";
import type { ChatMessage } from "../../../engines/models/chat.ts";
import { isRecord } from "../../../kernel/is-record.ts";
import { type Caller, scopeOf } from "../../accounts/index.ts";
import { findThread, findThreadAfter } from "../threads/thread-store.ts";

export interface ChosenThread {
  /** As the client gave it, if it did. */
  id: unknown;
  /** The run that must be the last one of the thread. */
  after?: string;
  /** The thread has the earlier turns, so the run's input contains only new messages. */
  isContinued: boolean;
  /** The client names the thread, and may send the whole conversation each time. */
  isNamed: boolean;
}

export interface ThreadRequest {
  caller: Caller;
  metadata: unknown;
  /** Set if the answer is stored and can be continued by its id. */
  chain?: { previousRunId: string | undefined } | undefined;
}

/**
 * The thread of a conversation: the one that `metadata.thread_id` names, the one that ends with the answer that the client
 * continues, or for an answer that may be continued a new one. A client may also continue an answer that others follow:
 * then the new thread begins with the messages up to that answer.
 */
export async function chooseThread(
  sql: Sql,
  { caller, metadata, chain }: ThreadRequest,
  mayContinue: boolean,
): Promise<ChosenThread | undefined> {
  const scope = scopeOf(caller);
  const named = isRecord(metadata) ? metadata.thread_id : undefined;
  if (named !== undefined && named !== null) {
    const isContinued = typeof named === "string" && (await findThread(sql, scope, named)) !== undefined;
    return { id: named, isContinued, isNamed: true };
  }
  if (!chain) return undefined;
  const { previousRunId: after } = chain;
  const id = mayContinue && after !== undefined ? await findThreadAfter(sql, scope, after) : undefined;
  if (id === undefined || after === undefined) return { id: newId("thread"), isContinued: false, isNamed: false };
  return { id, after, isContinued: true, isNamed: false };
}

/** Instructions of the client, and what follows the last answer. */
export function newMessages(messages: readonly ChatMessage[]): ChatMessage[] {
  const first = messages.findIndex(({ role }) => role !== "system");
  const leading = first === -1 ? messages.length : first;
  const lastUser = messages.findLastIndex(({ role }) => role === "user");
  const afterAnswer = messages.findLastIndex(({ role }) => role === "assistant") + 1;
  // Some clients end with the beginning of the answer that they want.
  const from = Math.max(leading, lastUser === -1 ? afterAnswer : Math.min(afterAnswer, lastUser));
  return [...messages.slice(0, leading), ...messages.slice(from)];
}
