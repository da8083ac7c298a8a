import type { Database, Sql } from "../../engines/database/database.ts";
import type { Log } from "../../kernel/log.ts";
import { Register } from "../../kernel/register.ts";
import { type CallText, PublishedText } from "./published-text.ts";
import type { Run } from "./run.ts";
import { formatPiece, newPieces, parsePiece, type TextPiece } from "./text-pieces.rules.ts";

/**
 * Text of runs on its way to the readers that wait for it. Pieces may be lost: the stored steps have the whole text. A
 * reader on the same node gets each piece at once, one on another node gets them by notifications of the database. Readers
 * announce themselves, so that nothing is sent for a run without any.
 */
export interface RunTexts {
  /** `isAwaited`: a client waits for the text, so it is published before its node announces a reader. */
  open(run: Pick<Run, "id">, call: Pick<TextPiece, "step" | "callId">, isAwaited: boolean): CallText;
  /** Passes on the text of the present call from its beginning, then each new piece. Returns a function that ends it. */
  follow(runId: string, onPiece: (piece: TextPiece) => void): () => void;
  close(): Promise<void>;
}

const textChannel = "gantry_run_text";
const readersChannel = "gantry_run_text_readers";
/** An announcement holds longer than the time between two of them. */
const announceEveryMs = 5_000;
const announcedForMs = 15_000;

export async function startRunTexts(database: Database, log: Log): Promise<RunTexts> {
  const own = crypto.randomUUID();
  const followed = new Register<Set<(piece: TextPiece) => void>>();
  /** Calls under way on this node. A run makes one at a time. */
  const open = new Register<PublishedText>();
  const remote = createAnnouncements();
  const deliver = (runId: string, piece: TextPiece) => {
    for (const onPiece of followed.get(runId) ?? []) onPiece(piece);
  };
  const send = (channel: string, payloads: string[]) =>
    notifyAll(database.sql, channel, payloads).catch((error) => {
      log.debug({ err: error }, "text of a run was not published; its readers find it in the stored step");
    });
  const listeners = [
    await database.listen(textChannel, (payload) => {
      const runId = payload.slice(0, payload.indexOf(" "));
      if (followed.get(runId)) deliver(runId, parsePiece(payload.slice(runId.length + 1)));
    }),
    await database.listen(readersChannel, (payload) => {
      const [runId = "", by, isNew] = payload.split(" ");
      if (by === own) return;
      remote.announce(runId);
      if (isNew === "new") open.get(runId)?.catchUp();
    }),
  ];
  const announcing = setInterval(() => {
    const ids = [...followed.ids()];
    if (ids.length > 0)
      void send(
        readersChannel,
        ids.map((id) => `${id} ${own}`),
      );
  }, announceEveryMs).unref();

  return {
    open({ id }, call, isAwaited) {
      const text = new PublishedText(call, {
        isLocal: () => followed.get(id) !== undefined,
        isRemote: () => remote.has(id) || (isAwaited && followed.get(id) === undefined),
        deliver: (piece) => deliver(id, piece),
        publish: (pieces) =>
          send(
            textChannel,
            pieces.map((piece) => `${id} ${formatPiece(piece)}`),
          ),
        onClose() {
          if (open.get(id) === text) open.delete(id);
        },
      });
      open.set(id, text);
      return text;
    },
    follow(runId, onPiece) {
      const follower = newPieces(onPiece);
      const followers = followed.get(runId) ?? new Set();
      followed.set(runId, followers.add(follower));
      const call = open.get(runId);
      if (call) call.catchUp();
      else void send(readersChannel, [`${runId} ${own} new`]);
      return () => {
        followers.delete(follower);
        if (followers.size === 0 && followed.get(runId) === followers) followed.delete(runId);
      };
    },
    async close() {
      clearInterval(announcing);
      for (const listener of listeners) await listener.stop();
    },
  };
}

/** Runs that another node has readers of. */
function createAnnouncements(): { announce(runId: string): void; has(runId: string): boolean } {
  const until = new Map<string, number>();
  return {
    announce(runId) {
      const now = performance.now();
      for (const [id, time] of until) {
        if (time > now) break;
        until.delete(id);
      }
      // Insertion order is the order of expiry.
      until.delete(runId);
      until.set(runId, now + announcedForMs);
    },
    has: (runId) => (until.get(runId) ?? 0) > performance.now(),
  };
}

async function notifyAll(sql: Sql, channel: string, payloads: string[]): Promise<void> {
  if (payloads.length === 0) return;
  // Nothing is stored, so the commit does not wait for the disk.
  await sql`
    select set_config('synchronous_commit', 'off', true), pg_notify(${channel}, payload)
    from unnest(${payloads}::text[]) payload`;
}
