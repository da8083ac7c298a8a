import type { Sql } from "../../../engines/database/database.ts";
import type { Log } from "../../../kernel/log.ts";
import type { Outcome } from "../prediction.ts";
import { at, type PredictionAddress } from "../store.ts";
import { type Fragment, storableText, wholePairs } from "./fragments.rules.ts";

const everyMs = 250;
/** In the small pieces in which it came, a text weighs 6 to 24 times what it does in one: they are made one now and then. */
const longestPiece = 65_536;

/**
 * What a run of a streaming model says, in merged pieces: never a row a token.
 *
 *   kept here ──publish──► written a few times a second ──┐
 *       └──────────────────────close──────────────────────┴──► over: nothing is taken, nothing is written
 *
 * The pieces that are written are always the beginning of what was said: one that could not be written is tried again
 * before the next. What was not written is only missing from the live view: a run that ends well has its whole text as
 * its output, and a failure takes with it what was not written.
 *
 * A class, and not a handful of closures: one is made for every stream.
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
    // A driver that does not listen to its signal may go on after the end.
    if (this.#isOver) return;
    if (field !== this.#field) this.#cut(this.#pending);
    this.#field = field;
    this.#pending += text;
    if (this.#pending.length >= longestPiece) this.#cut(wholePairs(this.#pending));
    if (this.#isPublished) this.#timer ??= setTimeout(() => this.#flush(), everyMs);
  }

  /** Somebody may read along: what was said so far is written at once, the rest as it comes. */
  publish(): void {
    if (this.#isPublished || this.#isOver) return;
    this.#isPublished = true;
    this.#flush();
  }

  /** With the run's end, before it is written down. */
  close(outcome: Outcome): Outcome {
    this.#isOver = true;
    clearTimeout(this.#timer);
    if (outcome.kind === "failed") this.#cut(this.#pending);
    this.#pending = "";
    // One that is being written just now is among them: settlement knows it from its number.
    const lastWords = this.#unwritten.splice(0);
    return outcome.kind === "failed" && lastWords.length > 0 ? { ...outcome, lastWords } : outcome;
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
      this.#log.warn({ prediction_id: this.#id, err: error }, "A piece of a stream could not be stored");
    } finally {
      this.#isWriting = false;
    }
  }
}

/** The channel on which a node says that a run has said more. */
export const fragmentsChannel = "gantry_fragments";

/** The channel on which the holder of a prediction hears that somebody follows it. */
export const followedChannel = "gantry_followed";

export async function insertFragment(sql: Sql, id: string, { claim, seq, field, fragment }: Fragment): Promise<void> {
  // A worker that was taken for dead must leave nothing behind: settlement waits for this lock, or this finds nothing.
  await sql`
    with present as (
      select 1 from live_predictions where id = ${id} and claim = ${claim} for key share
    ), added as (
      insert into prediction_fragments (prediction_id, claim, seq, field, fragment)
      select ${id}, ${claim}, ${seq}, ${field}, ${fragment} from present on conflict do nothing returning 1
    )
    select pg_notify(${fragmentsChannel}, ${id}) from added`;
}

/** Tells the holder; false where there is none to tell: workers write down what is said, whoever follows. */
export async function notifyHolder(sql: Sql, address: PredictionAddress): Promise<boolean> {
  const rows = await sql`
    select pg_notify(${followedChannel}, id) from live_predictions where ${at(sql, address)} and route <> 'async'`;
  return rows.length > 0;
}

/** What a prediction had said that failed or was cancelled; see `keep_last_words`. */
export async function findLastWords(sql: Sql, address: PredictionAddress): Promise<Fragment[]> {
  const [row] = await sql<{ said: Fragment[] | null }[]>`select said from ended_predictions where ${at(sql, address)}`;
  return row?.said ?? [];
}

/** Of the present claim alone: what one before it said is void, also while the run waits to begin again. */
export async function listFragments(sql: Sql, id: string, after: { claim: number; seq: number }): Promise<Fragment[]> {
  return sql<Fragment[]>`
    select claim, seq, field, fragment from prediction_fragments
    where prediction_id = ${id} and claim = (select claim from live_predictions where id = ${id})
      and (claim, seq) > (${after.claim}, ${after.seq}) order by seq`;
}
