import { storableText } from "./run-writer.ts";
import { shortTexts, type TextPiece } from "./text-pieces.rules.ts";

/** Publishes the text of one call as it is written. */
export interface CallText {
  add(kind: TextPiece["kind"], text: string): void;
  /** Discards what was not sent: the stored step contains the whole text. */
  close(): void;
}

export interface Outlet {
  /** Whether a reader is on this node. */
  isLocal(): boolean;
  /** Whether a reader is on another node. */
  isRemote(): boolean;
  deliver(piece: TextPiece): void;
  publish(pieces: readonly TextPiece[]): Promise<void>;
  onClose(): void;
}

type Part = Pick<TextPiece, "kind" | "text">;

const flushEveryMs = 50;

/**
 * Without a reader, text is only collected. Readers on this node get it at once, those on other nodes every few
 * milliseconds:
 *
 *   add ──► unsent ──reader on this node: at once──► sent ──► delivered
 *              └─────reader elsewhere: on a timer──►  └─────► outbox ──► published, one notification at a time
 *
 * A later reader gets everything again from the beginning; other readers skip what they have.
 */
export class PublishedText implements CallText {
  readonly #call: Pick<TextPiece, "step" | "callId">;
  readonly #outlet: Outlet;
  #unsent: Part[] = [];
  readonly #sent: Part[] = [];
  #outbox: TextPiece[] = [];
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
    append(this.#unsent, { kind, text });
    if (this.#outlet.isLocal()) this.#advance();
    if (this.#outlet.isRemote()) this.#flushSoon();
  }

  /** A reader has come. */
  catchUp(): void {
    if (this.#isClosed) return;
    const before = this.#sent.splice(0);
    this.#unsent.unshift(...before);
    this.#advance();
    if (this.#outlet.isRemote()) this.#flushSoon();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#unsent = [];
    this.#outbox = [];
    this.#outlet.onClose();
  }

  /** Sends what is unsent to the readers there are. */
  #advance(): void {
    const pieces = this.#take();
    if (this.#outlet.isLocal()) for (const piece of pieces) this.#outlet.deliver(piece);
    if (this.#outlet.isRemote()) this.#outbox.push(...pieces);
  }

  #flushSoon(): void {
    if (!this.#isSending) this.#timer ??= setTimeout(() => void this.#flush(), flushEveryMs);
  }

  /** One notification at a time keeps their order. */
  async #flush(): Promise<void> {
    this.#timer = undefined;
    this.#isSending = true;
    if (!this.#outlet.isLocal()) this.#advance();
    await this.#outlet.publish(this.#outbox.splice(0));
    this.#isSending = false;
    const hasMore = this.#outbox.length > 0 || (this.#unsent.length > 0 && this.#outlet.isRemote());
    if (hasMore && !this.#isClosed) this.#flushSoon();
  }

  /** The unsent pieces. The first half of a surrogate pair waits for the second. */
  #take(): TextPiece[] {
    const last = this.#unsent.at(-1);
    const half = last && /[\ud800-\udbff]$/.exec(last.text)?.[0];
    const taken = this.#unsent;
    this.#unsent = [];
    if (last && half !== undefined) {
      last.text = last.text.slice(0, -1);
      this.#unsent.push({ kind: last.kind, text: half });
    }
    return taken.flatMap(({ kind, text }) =>
      [...shortTexts(storableText(text))].map((part): TextPiece => {
        const offset = lengthOf(this.#sent, kind);
        append(this.#sent, { kind, text: part });
        return { ...this.#call, kind, text: part, offset, seq: this.#seq++ };
      }),
    );
  }
}

function append(parts: Part[], { kind, text }: Part): void {
  const last = parts.at(-1);
  if (last?.kind === kind) last.text += text;
  else parts.push({ kind, text });
}

function lengthOf(parts: readonly Part[], kind: TextPiece["kind"]): number {
  return parts.reduce((sum, part) => sum + (part.kind === kind ? part.text.length : 0), 0);
}
