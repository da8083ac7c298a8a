/** Of a result as the model gets it: the mark of a cut, and what is told after it, included. */
const longestResult = 65_536;

/** The text and what is told after it. Where both do not fit, the text is cut with a mark. */
export function cutResult(text: string, after = ""): string {
  const room = longestResult - Buffer.byteLength(after);
  if (text.length <= room / 4 || Buffer.byteLength(text) <= room) return text + after;
  const bytes = Buffer.from(text);
  let end = room - Buffer.byteLength(markOf(bytes.length));
  while (isInsideCharacter(bytes, end)) end--;
  return bytes.toString("utf8", 0, end) + markOf(bytes.length - end) + after;
}

function markOf(bytes: number): string {
  return `\n[… cut: ${bytes} bytes more]`;
}

/** Whether a cut here would divide a character. */
function isInsideCharacter(utf8: Buffer, at: number): boolean {
  return ((utf8[at] ?? 0) & 0b1100_0000) === 0b1000_0000;
}
