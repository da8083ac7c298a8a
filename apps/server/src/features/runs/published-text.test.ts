import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { PublishedText } from "./published-text.ts";
import { formatPiece, newPieces, parsePiece, type TextPiece } from "./text-pieces.rules.ts";

const call = { step: 1, callId: "pred_1" };

function bench() {
  const readers = { local: false, remote: false };
  const [delivered, published]: TextPiece[][] = [[], []];
  const text = new PublishedText(call, {
    isLocal: () => readers.local,
    isRemote: () => readers.remote,
    deliver: (piece) => void delivered?.push(piece),
    publish: async (pieces) => void published?.push(...pieces),
    onClose: () => {},
  });
  return { readers, text, delivered: delivered ?? [], published: published ?? [] };
}
const joined = (pieces: readonly TextPiece[]) => pieces.map((piece) => piece.text).join("");

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("the text of a call", () => {
  it("is not sent, and sets no timer, without a reader", () => {
    const { text, delivered, published } = bench();
    for (const word of ["a", "b"]) text.add("text", word);
    expect([delivered, published, vi.getTimerCount()]).toEqual([[], [], 0]);
  });

  it("is sent from its beginning to a reader who comes later", () => {
    const { readers, text, delivered } = bench();
    text.add("reasoning", "Hm.");
    text.add("text", "One ");
    readers.local = true;
    text.catchUp();
    text.add("text", "two");
    expect(delivered.map(({ kind, text: piece, offset }) => [kind, piece, offset])).toEqual([
      ["reasoning", "Hm.", 0],
      ["text", "One ", 0],
      ["text", "two", 4],
    ]);
  });

  it("goes to readers on this node at once and to others in groups", async () => {
    const { readers, text, delivered, published } = bench();
    Object.assign(readers, { local: true, remote: true });
    for (const word of ["One ", "two ", "three"]) text.add("text", word);
    expect(joined(delivered)).toBe("One two three");
    expect(published).toEqual([]);
    await vi.advanceTimersByTimeAsync(100);
    expect(joined(published)).toBe("One two three");
  });

  it("is sent again for each new reader, who skips nothing, while earlier ones get nothing twice", async () => {
    const { readers, text, published } = bench();
    readers.remote = true;
    const [first, second]: TextPiece[][] = [[], []];
    const pass = newPieces((piece) => void first?.push(piece));
    text.add("text", "One ");
    await vi.advanceTimersByTimeAsync(100);
    for (const piece of published.splice(0)) pass(piece);
    const passLater = newPieces((piece) => void second?.push(piece));
    text.add("text", "two");
    text.catchUp();
    await vi.advanceTimersByTimeAsync(100);
    for (const piece of published) for (const one of [pass, passLater]) one(parsePiece(formatPiece(piece)));
    expect([joined(first ?? []), joined(second ?? [])]).toEqual(["One two", "One two"]);
    expect(first?.map(({ seq }) => seq)).toEqual([0, 1]);
  });

  it("never ends in half of a character", async () => {
    const { readers, text, delivered } = bench();
    readers.local = true;
    const [high = "", low = ""] = "\u{1F600}";
    text.add("text", `a${"\u{1F600}".slice(0, 1)}`);
    text.add("text", "\u{1F600}".slice(1));
    expect([high.length, low]).toEqual([2, ""]);
    expect(delivered.map((piece) => piece.text)).toEqual(["a", "\u{1F600}"]);
  });

  it("is discarded at the end of the call", async () => {
    const { readers, text, published } = bench();
    readers.remote = true;
    text.add("text", "One");
    text.close();
    text.add("text", "two");
    text.catchUp();
    await vi.advanceTimersByTimeAsync(100);
    expect(published).toEqual([]);
  });
});

describe("a reader of pieces", () => {
  it("sees a gap where text was lost", () => {
    const seen: TextPiece[] = [];
    const pass = newPieces((piece) => void seen.push(piece));
    const piece = { ...call, kind: "text", seq: 0 } as const;
    for (const [text, offset] of [
      ["One ", 0],
      ["four", 14],
    ] as const)
      pass({ ...piece, text, offset });
    expect(seen.map(({ seq, offset }) => [seq, offset])).toEqual([
      [0, 0],
      [2, 14],
    ]);
  });

  it("gets pieces of nodes that send no offsets as they are", () => {
    const seen: TextPiece[] = [];
    newPieces((piece) => void seen.push(piece))(parsePiece('[1,"pred_1",7,"text","x"]'));
    expect(seen).toEqual([{ ...call, seq: 7, kind: "text", text: "x" }]);
  });
});
