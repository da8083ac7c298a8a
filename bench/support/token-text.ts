/** The text of a benchmark's token is the moment at which it was sent, so that every reader can tell how old it is. */
const mark = "@";
const digits = 16;
const markCode = mark.charCodeAt(0);
const zero = 48;

/** A clock that all processes of one machine share. */
export function microsNow(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

export function tokenText(micros: number): string {
  return ` ${mark}${String(micros).padStart(digits, "0")}`;
}

/** Calls back with every moment in the bytes and answers the rest that may be the beginning of another. */
export function readTokens(bytes: Buffer, onToken: (micros: number) => void): Buffer {
  let at = bytes.indexOf(markCode);
  while (at !== -1) {
    if (bytes.length < at + 1 + digits) return bytes.subarray(at);
    let micros = 0;
    for (let place = at + 1; place <= at + digits; place++) micros = micros * 10 + (bytes[place] as number) - zero;
    onToken(micros);
    at = bytes.indexOf(markCode, at + 1 + digits);
  }
  return nothing;
}

const nothing = Buffer.alloc(0);
