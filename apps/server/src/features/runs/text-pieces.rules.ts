/** A piece of the text that a run's model writes. Pieces of a call are numbered from 0. */
export interface TextPiece {
  step: number;
  callId: string;
  seq: number;
  kind: "text" | "reasoning";
  text: string;
  /** Characters of this kind before the piece. Nodes of earlier versions send none. */
  offset?: number | undefined;
}

export function formatPiece({ step, callId, seq, kind, text, offset }: TextPiece): string {
  return JSON.stringify([step, callId, seq, kind, text, offset]);
}

export function parsePiece(payload: string): TextPiece {
  const [step, callId, seq, kind, text, offset] = JSON.parse(payload) as [
    number,
    string,
    number,
    TextPiece["kind"],
    string,
    number | undefined,
  ];
  return { step, callId, seq, kind, text, offset };
}

/**
 * Passes on what a reader has not seen: text is sent again when another reader comes. Pieces get new numbers; a number is
 * left out where text is missing.
 */
export function newPieces(onPiece: (piece: TextPiece) => void): (piece: TextPiece) => void {
  let seen = { callId: "", text: 0, reasoning: 0, seq: 0 };
  return (piece) => {
    const { callId, kind, offset } = piece;
    if (offset === undefined) return onPiece(piece);
    if (callId !== seen.callId) seen = { callId, text: 0, reasoning: 0, seq: 0 };
    const from = seen[kind];
    const to = offset + piece.text.length;
    if (to <= from) return;
    if (offset > from) seen.seq++;
    seen[kind] = to;
    onPiece({
      ...piece,
      text: piece.text.slice(Math.max(0, from - offset)),
      offset: Math.max(from, offset),
      seq: seen.seq++,
    });
  };
}

/** Bytes of a text inside a notification, which PostgreSQL limits to 8,000. */
const mostBytes = 7_000;

/** The text in parts that fit into a notification. */
export function* shortTexts(text: string): Generator<string> {
  if (text === "") return;
  if (Buffer.byteLength(JSON.stringify(text)) <= mostBytes) return yield text;
  const half = text.slice(0, text.length >> 1).replace(/[\ud800-\udbff]$/, "");
  yield* shortTexts(half);
  yield* shortTexts(text.slice(half.length));
}
