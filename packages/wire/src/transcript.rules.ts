/** What a reader receives next. `restarted`: discard the earlier text; this is the text from its beginning. */
export interface TranscriptUpdate {
  output_data: Record<string, string[]>;
  restarted?: true;
}

type Fragments = Iterable<readonly [field: string, text: string]>;

export interface Transcript {
  /** An attempt starts, or the same attempt is read again: fragments follow from the beginning. */
  restart(): void;
  /** Adds fragments of the attempt by field; returns what the reader is missing. */
  append(fragments: Fragments): TranscriptUpdate | undefined;
  /** The attempt has ended: if the reader has more text, it is from an earlier attempt. */
  finish(): TranscriptUpdate | undefined;
}

/**
 * The text of a prediction that one reader has received. A restarted prediction produces its text again, and most models
 * produce another one each time. The reader ends up with the text of the newest attempt, never with parts of two.
 *
 *   the attempt repeats the reader's text ──► nothing
 *   the attempt continues it              ──► the new part
 *   the attempt differs                   ──► its whole text, as `restarted`
 */
export function createTranscript(): Transcript {
  const received = new Map<string, string>();
  /** How much of it the current attempt has repeated. */
  const confirmed = new Map<string, number>();

  /** Text that the reader has received and the attempt has not produced yet. */
  function ahead(field: string): string {
    const text = received.get(field) ?? "";
    const from = confirmed.get(field) ?? 0;
    return from < text.length ? text.slice(from) : "";
  }

  function agrees([field, text]: readonly [string, string]): boolean {
    const known = ahead(field);
    return text.startsWith(known) || known.startsWith(text);
  }

  function extend(fragments: readonly (readonly [string, string])[]): TranscriptUpdate | undefined {
    const parts: [string, string[]][] = [];
    for (const [field, text] of fragments) {
      const part = text.slice(ahead(field).length);
      if (part !== "") parts.push([field, [part]]);
      received.set(field, (received.get(field) ?? "") + part);
      confirmed.set(field, (confirmed.get(field) ?? 0) + text.length);
    }
    return parts.length === 0 ? undefined : { output_data: Object.fromEntries(parts) };
  }

  function replace(fragments: readonly (readonly [string, string])[]): TranscriptUpdate {
    for (const [field, text] of received) received.set(field, text.slice(0, confirmed.get(field) ?? 0));
    for (const [field, text] of fragments) received.set(field, (received.get(field) ?? "") + text);
    for (const [field, text] of received) confirmed.set(field, text.length);
    // Includes fields that are empty now: output without any field would mean the end.
    const texts = [...received].map(([field, text]) => [field, text === "" ? [] : [text]]);
    return { output_data: Object.fromEntries(texts), restarted: true };
  }

  return {
    restart: () => confirmed.clear(),
    append(fragments) {
      const texts = [...fragments];
      return texts.every(agrees) ? extend(texts) : replace(texts);
    },
    finish: () => ([...received.keys()].some((field) => ahead(field) !== "") ? replace([]) : undefined),
  };
}
