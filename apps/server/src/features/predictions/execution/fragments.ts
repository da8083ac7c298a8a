import type { Sql } from "../../../engines/database/database.ts";
import type { Log } from "../../../kernel/log.ts";
import type { Outcome } from "../prediction.ts";
import { type Fragment, storableText, wholePairs } from "./fragments.rules.ts";
import { insertFragment } from "./fragments-store.ts";

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
