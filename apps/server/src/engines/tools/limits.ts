export interface ToolLimits {
  /** Connecting and the handshake. */
  connectMs: number;
  /** Listing all tools. */
  listMs: number;
  /** A call without progress. */
  callMs: number;
  /** A whole call, including the wait for a slot. */
  callTotalMs: number;
  /** Messages without an answer, such as a cancellation. */
  notifyMs: number;
  /** Ending a session. */
  farewellMs: number;
  /** An unused connection is closed after this time. */
  idleMs: number;
  /** An older connection accepts no new calls. */
  ageMs: number;
  /** The list of tools is cached for this long unless the server reports a change. */
  listTtlMs: number;
  /** Slots per server. */
  parallel: number;
  /** Calls that may wait, per server and user. */
  waiting: number;
  /** Open connections of all servers. Idle ones beyond it are closed. */
  connections: number;
  answerBytes: number;
  /** Bytes outside of answers per connection. With `sse` answers count too. */
  streamBytes: number;
  /** Messages in one JSON answer. Reading a message takes much longer than sending it. */
  answerMessages: number;
  /** Messages of one event stream. `sse` has one stream for all calls, so its limit is multiplied by `parallel`. */
  messagesAtOnce: number;
  messagesASecond: number;
  /** How long a faster stream is slowed down before it is cut. See `paceMessages`. */
  heldBackMs: number;
}

export const defaultToolLimits: ToolLimits = {
  connectMs: 15_000,
  listMs: 30_000,
  callMs: 60_000,
  callTotalMs: 300_000,
  notifyMs: 15_000,
  farewellMs: 3000,
  idleMs: 60_000,
  ageMs: 1_800_000,
  listTtlMs: 30_000,
  parallel: 4,
  waiting: 100,
  connections: 256,
  answerBytes: 16 * 1024 * 1024,
  streamBytes: 64 * 1024 * 1024,
  answerMessages: 10_000,
  messagesAtOnce: 5000,
  messagesASecond: 1000,
  heldBackMs: 5000,
};
