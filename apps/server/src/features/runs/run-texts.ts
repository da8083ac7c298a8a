import type { Database, Sql } from "../../engines/database/database.ts";
import type { Log } from "../../kernel/log.ts";
import { Register } from "../../kernel/register.ts";
import type { Run } from "./run.ts";
import { storableText } from "./run-writer.ts";

/** A piece of the text that a run's model writes. Pieces of a call are numbered from 0. */
export interface TextPiece {
  step: number;
  callId: string;
  seq: number;
  kind: "text" | "reasoning";
  text: string;
}

/** Publishes the text of one call as it is written. */
export interface CallText {
  add(kind: TextPiece["kind"], text: string): void;
  /** Discards what was not sent: the stored step contains the whole text. */
  close(): void;
}

/**
 * Text of runs on its way to the clients that wait for it. Pieces may be lost: followers read missing text from the stored
 * steps. A follower on the same node gets each piece at once, one on another node gets them by notifications of the
 * database.
 */
export interface RunTexts {
  open(run: Pick<Run, "id">, call: Pick<TextPiece, "step" | "callId">): CallText;
  /** Returns a function that ends it. */
  follow(runId: string, onPiece: (piece: TextPiece) => void): () => void;
  close(): Promise<void>;
}

const channel = "gantry_run_text";
const flushEveryMs = 50;
/** Bytes of a text inside a notification, which PostgreSQL limits to 8,000. */
const mostBytes = 7_000;

type Followers = Set<(piece: TextPiece) => void>;

export async function startRunTexts(database: Database, log: Log): Promise<RunTexts> {
  const followed = new Register<Followers>();
  const deliver = (runId: string, piece: TextPiece) => {
    for (const onPiece of followed.get(runId) ?? []) onPiece(piece);
  };
  const listener = await database.listen(channel, (payload) => {
    const runId = payload.slice(0, payload.indexOf(" "));
    if (followed.get(runId)) deliver(runId, parsePiece(payload.slice(runId.length + 1)));
  });
  const publish = (payloads: string[]) =>
    notifyAll(database.sql, payloads).catch((error) => {
      log.debug({ err: error }, "text of a run was not published; its follower reads the stored step");
    });

  return {
    open: ({ id }, call) =>
      new PublishedText(call, {
        isLocal: () => followed.get(id) !== undefined,
        deliver: (piece) => deliver(id, piece),
        publish: (pieces) => publish(pieces.map((piece) => `${id} ${formatPiece(piece)}`)),
      }),
    follow(runId, onPiece) {
      const followers: Followers = followed.get(runId) ?? new Set();
      followed.set(runId, followers.add(onPiece));
      return () => {
        followers.delete(onPiece);
        if (followers.size === 0 && followed.get(runId) === followers) followed.delete(runId);
      };
    },
    close: () => listener.stop(),
  };
}

interface Outlet {
  /** Whether a follower is on this node. */
  isLocal(): boolean;
  deliver(piece: TextPiece): void;
  publish(pieces: readonly TextPiece[]): Promise<void>;
}

class PublishedText implements CallText {
  readonly #call: Pick<TextPiece, "step" | "callId">;
  readonly #outlet: Outlet;
  #pending: Pick<TextPiece, "kind" | "text">[] = [];
  #seq = 0;
  #timer: NodeJS.Timeout | undefined;
  #isSending = false;
  #isClosed = false;

  constructor(call: Pick<TextPiece, "step" | "callId">, outlet: Outlet) {
    this.#call = call;
    this.#outlet = outlet;
  }

  add(kind: TextPiece["kind"], text: string): void {
    // A driver that ignores its signal may go on after the end.
    if (this.#isClosed || text === "") return;
    const last = this.#pending.at(-1);
    if (last?.kind === kind) last.text += text;
    else this.#pending.push({ kind, text });
    if (this.#outlet.isLocal()) for (const piece of this.#take()) this.#outlet.deliver(piece);
    else if (!this.#isSending) this.#timer ??= setTimeout(() => void this.#send(), flushEveryMs);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#pending = [];
  }

  /** One notification at a time keeps their order. */
  async #send(): Promise<void> {
    this.#timer = undefined;
    this.#isSending = true;
    await this.#outlet.publish(this.#take());
    this.#isSending = false;
    if (this.#pending.length > 0 && !this.#isClosed) this.#timer ??= setTimeout(() => void this.#send(), flushEveryMs);
  }

  /** The pending pieces. The first half of a surrogate pair waits for the second. */
  #take(): TextPiece[] {
    const last = this.#pending.at(-1);
    const half = last && /[\ud800-\udbff]$/.exec(last.text)?.[0];
    const taken = this.#pending;
    this.#pending = [];
    if (last && half !== undefined) {
      last.text = last.text.slice(0, -1);
      this.#pending.push({ kind: last.kind, text: half });
    }
    return taken
      .flatMap(({ kind, text }) => [...shortTexts(storableText(text))].map((part) => ({ kind, text: part })))
      .map((part) => ({ ...this.#call, ...part, seq: this.#seq++ }));
  }
}

/** The text in parts that fit into a notification. */
function* shortTexts(text: string): Generator<string> {
  if (text === "") return;
  if (Buffer.byteLength(JSON.stringify(text)) <= mostBytes) return yield text;
  const half = text.slice(0, text.length >> 1).replace(/[\ud800-\udbff]$/, "");
  yield* shortTexts(half);
  yield* shortTexts(text.slice(half.length));
}

function formatPiece({ step, callId, seq, kind, text }: TextPiece): string {
  return JSON.stringify([step, callId, seq, kind, text]);
}

function parsePiece(payload: string): TextPiece {
  const [step, callId, seq, kind, text] = JSON.parse(payload) as [number, string, number, TextPiece["kind"], string];
  return { step, callId, seq, kind, text };
}

async function notifyAll(sql: Sql, payloads: string[]): Promise<void> {
  if (payloads.length === 0) return;
  // Nothing is stored, so the commit does not wait for the disk.
  await sql`
    select set_config('synchronous_commit', 'off', true), pg_notify(${channel}, payload)
    from unnest(${payloads}::text[]) payload`;
}
