import type { Readable, Writable } from "node:stream";

const lineFeed = 10;
const longestLine = 1_048_576;

/** Passes text on in whole lines, so that lines of several sources do not mix. */
export function passLines(from: Readable, to: Writable): void {
  let rest: Buffer[] = [];
  let held = 0;
  from.on("data", (chunk: Buffer) => {
    const end = chunk.lastIndexOf(lineFeed) + 1;
    if (end > 0) {
      to.write(Buffer.concat([...rest, chunk.subarray(0, end)]));
      rest = [];
      held = 0;
    }
    if (end === chunk.length) return;
    rest.push(chunk.subarray(end));
    held += chunk.length - end;
    if (held > longestLine) endLine();
  });
  from.on("end", () => {
    if (held > 0) endLine();
  });

  function endLine(): void {
    to.write(Buffer.concat([...rest, Buffer.of(lineFeed)]));
    rest = [];
    held = 0;
  }
}
