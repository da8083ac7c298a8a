import type { Sql } from "../../../engines/database/database.ts";
import type { Log } from "../../../kernel/log.ts";
import type { Fragment, Outcome } from "../prediction.ts";
import { at, type PredictionAddress } from "../store.ts";
import { storableText, wholePairs } from "./fragments.rules.ts";

const flushEveryMs = 250;
/** Many small strings need 6 to 24 times the memory of one, so pending text is flattened at this length. */
const longestPiece = 65_536;

/**
 * The transcript of a streaming model in merged fragments, never one row for each token.
 *
 *   in memory ──publish──► written a few times a second ──┐
 *       └──────────────────────close──────────────────────┴──► over: nothing is accepted or written
 *
 * Written fragments are always a prefix of the transcript: a fragment that was not written is retried before the next.
 * A missing fragment affects only followers. A successful prediction has its whole text as output, and a failed one passes
 * its unsent fragments to settlement.
 *
 * A class rather than closures, because every stream creates one.
 */
export class Fragments {
  readonly #sql: Sql;
  readonly #id: string;
  readonly #claim: number;
  readonly #log: Log;
  #pending = "";
  #field = "";
  #seq = 0;
  readonly #unwritten: Fragment[] = [];
  #timer: NodeJS.Timeout | undefined;
  #isPublished = false;
  #isWriting = false;
  #isOver = false;

  constructor(sql: Sql, { id, claim }: { id: string; claim: number }, log: Log) {
    this.#sql = sql;
    this.#id = id;
    this.#claim = claim;
    this.#log = log;
  }

  add(field: string, text: string): void {
    // A driver that ignores its signal may go on after the end.
    if (this.#isOver) return;
    if (field !== this.#field) this.#cut(this.#pending);
    this.#field = field;
    this.#pending += text;
    if (this.#pending.length >= longestPiece) this.#cut(wholePairs(this.#pending));
    if (this.#isPublished) this.#timer ??= setTimeout(() => this.#flush(), flushEveryMs);
  }

  /** A follower may read: writes the transcript so far, and later fragments as they come. */
  publish(): void {
    if (this.#isPublished || this.#isOver) return;
    this.#isPublished = true;
    this.#flush();
  }

  /** Called with the outcome before it is settled. */
  close(outcome: Outcome): Outcome {
    this.#isOver = true;
    clearTimeout(this.#timer);
    if (outcome.kind === "failed") this.#cut(this.#pending);
    this.#pending = "";
    // Includes a fragment that is being written now. Settlement recognizes it by its number.
    const unsentFragments = this.#unwritten.splice(0);
    return outcome.kind === "failed" && unsentFragments.length > 0 ? { ...outcome, unsentFragments } : outcome;
  }

  #cut(text: string): void {
    if (text === "") return;
    this.#pending = this.#pending.slice(text.length);
    this.#seq += 1;
    this.#unwritten.push({
      claim: this.#claim,
      seq: this.#seq,
      field: this.#field,
      fragment: storableText(text),
    });
  }

  #flush(): void {
    this.#timer = undefined;
    this.#cut(wholePairs(this.#pending));
    void this.#write();
  }

  async #write(): Promise<void> {
    if (this.#isWriting) return;
    this.#isWriting = true;
    try {
      for (let next = this.#unwritten[0]; next; next = this.#unwritten[0]) {
        await insertFragment(this.#sql, this.#id, next);
        this.#unwritten.shift();
      }
    } catch (error) {
      this.#log.warn({ prediction_id: this.#id, err: error }, "A fragment of a stream could not be stored");
    } finally {
      this.#isWriting = false;
    }
  }
}

/** Nodes notify here that a transcript has grown. */
export const fragmentsChannel = "gantry_fragments";

/** The node of a prediction is notified here that it has a follower. */
export const followedChannel = "gantry_followed";

async function insertFragment(sql: Sql, id: string, { claim, seq, field, fragment }: Fragment): Promise<void> {
  // A worker that was considered dead must not leave rows: either settlement waits for this lock, or the row is gone.
  await sql`
    with present as (
      select 1 from live_predictions where id = ${id} and claim = ${claim} for key share
    ), added as (
      insert into prediction_fragments (prediction_id, claim, seq, field, fragment)
      select ${id}, ${claim}, ${seq}, ${field}, ${fragment} from present on conflict do nothing returning 1
    )
    select pg_notify(${fragmentsChannel}, ${id}) from added`;
}

/** False if no node needs the notification: workers write every transcript. */
export async function notifyHolder(sql: Sql, address: PredictionAddress): Promise<boolean> {
  const rows = await sql`
    select pg_notify(${followedChannel}, id) from live_predictions where ${at(sql, address)} and route <> 'async'`;
  return rows.length > 0;
}

/** Stores the transcripts of failed predictions with their ends; see `store_transcripts`. */
export async function storeTranscripts(
  sql: Sql,
  ids: readonly string[],
  unsent: readonly { id: string; fragments: readonly Fragment[] }[],
): Promise<void> {
  await sql`select store_transcripts(${ids as string[]}::text[], ${JSON.stringify(unsent)}::text::json)`;
}

/** The transcript of a prediction that failed or was cancelled. */
export async function findTranscript(sql: Sql, address: PredictionAddress): Promise<Fragment[]> {
  const [row] = await sql<{ said: Fragment[] | null }[]>`select said from ended_predictions where ${at(sql, address)}`;
  return row?.said ?? [];
}

/** Fragments of the current claim. Those of an earlier claim are void, even while the prediction waits again. */
export async function listFragments(sql: Sql, id: string, after: { claim: number; seq: number }): Promise<Fragment[]> {
  return sql<Fragment[]>`
    select claim, seq, field, fragment from prediction_fragments
    where prediction_id = ${id} and claim = (select claim from live_predictions where id = ${id})
      and (claim, seq) > (${after.claim}, ${after.seq}) order by seq`;
}
