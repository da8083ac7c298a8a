/** Bounds of one tool server's connection. Times in milliseconds. */
export interface ToolLimits {
  /** To connect and shake hands. */
  connectMs: number;
  /** To list all tools. */
  listMs: number;
  /** A call without progress. */
  callMs: number;
  /** A call in all, waiting for its turn included. */
  callTotalMs: number;
  /** Messages that want no answer, such as the word that a call is cancelled. */
  notifyMs: number;
  /** To tell a server that its session is over. */
  farewellMs: number;
  /** Without any call, a connection is closed. */
  idleMs: number;
  /** A connection this old takes no new call. */
  ageMs: number;
  /** How long a list of tools is believed when the server says nothing. */
  listTtlMs: number;
  /** Side by side, a server. */
  parallel: number;
  /** Waiting for their turn, a server and user. */
  waiting: number;
  /** Connections kept open; idle ones beyond are closed. */
  connections: number;
  /** Of one answer. */
  answerBytes: number;
  /** Of the stream on which a server speaks unasked (and in `sse` answers too), as long as a connection lives. */
  streamBytes: number;
  /** Of one answer in one piece: each is read by itself, and reading takes much longer than sending. */
  answerMessages: number;
  /** Of one stream, be it an answer or not; `sse`, where one stream brings all answers, has as many times that as calls. */
  messagesAtOnce: number;
  messagesASecond: number;
  /** How long a stream with more of them is held back, beyond half of the time, before it is cut. */
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
