/** The text of a token is the time at which it was sent, so that readers know its age. */
const mark = "@";
const digits = 16;
const markCode = mark.charCodeAt(0);
const zero = 48;

/** A clock shared by all processes of the machine. */
export function microsNow(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

export function tokenText(micros: number): string {
  return ` ${mark}${String(micros).padStart(digits, "0")}`;
}

/** Calls back with every time in the bytes. Returns a rest that may be the start of the next token. */
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
