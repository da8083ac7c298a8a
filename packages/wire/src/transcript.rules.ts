/** What a reader is told next. `restarted`: what it was told before is void, and this is the text from its beginning. */
export interface TranscriptUpdate {
  output_data: Record<string, string[]>;
  restarted?: true;
}

export interface Telling {
  /** What is said next is an attempt's text from its beginning: a newer attempt's, or the same one's once more. */
  beginAnew(): void;
  /** What the attempt said next, by field; answers what of it the reader needs. */
  tell(said: Iterable<readonly [field: string, text: string]>): TranscriptUpdate | undefined;
  /** The attempt has said all: a reader that has more has it from an attempt before. */
  finish(): TranscriptUpdate | undefined;
}

/**
 * What one reader has of a prediction's text. A run that is begun again says its text anew, and most models say another
 * one each time: the reader ends up with what the newest attempt said, never with parts of two.
 *
 *   it says what the reader has ──► nothing is told
 *   it goes on behind that      ──► the new part
 *   it says something else      ──► all that it has said, as `restarted`
 */
export function createTranscript(): Telling {
  const told = new Map<string, string>();
  /** How much of it the attempt has said, too. */
  const agreed = new Map<string, number>();

  /** What the reader has beyond what the attempt has said. */
  function ahead(field: string): string {
    const text = told.get(field) ?? "";
    const from = agreed.get(field) ?? 0;
    return from < text.length ? text.slice(from) : "";
  }

  function agrees([field, text]: readonly [string, string]): boolean {
    const known = ahead(field);
    return text.startsWith(known) || known.startsWith(text);
  }

  function goOn(said: readonly (readonly [string, string])[]): TranscriptUpdate | undefined {
    const parts: [string, string[]][] = [];
    for (const [field, text] of said) {
      const part = text.slice(ahead(field).length);
      if (part !== "") parts.push([field, [part]]);
      told.set(field, (told.get(field) ?? "") + part);
      agreed.set(field, (agreed.get(field) ?? 0) + text.length);
    }
    return parts.length === 0 ? undefined : { output_data: Object.fromEntries(parts) };
  }

  function restart(said: readonly (readonly [string, string])[]): TranscriptUpdate {
    for (const [field, text] of told) told.set(field, text.slice(0, agreed.get(field) ?? 0));
    for (const [field, text] of said) told.set(field, (told.get(field) ?? "") + text);
    for (const [field, text] of told) agreed.set(field, text.length);
    // Fields that have no text any more are named too: output without a field would be the end.
    const texts = [...told].map(([field, text]) => [field, text === "" ? [] : [text]]);
    return { output_data: Object.fromEntries(texts), restarted: true };
  }

  return {
    beginAnew: () => agreed.clear(),
    tell(said) {
      const texts = [...said];
      return texts.every(agrees) ? goOn(texts) : restart(texts);
    },
    finish: () => ([...told.keys()].some((field) => ahead(field) !== "") ? restart([]) : undefined),
  };
}
