/** Every kind of id, its prefix, and where it is used. */
export const idPrefixes = {
  prediction: "pred",
  agent: "agt",
  revision: "rev",
  run: "run",
  mcpServer: "mcp",
  drive: "drv",
  user: "usr",
  key: "key",
  file: "file",
  event: "evt",
  confirmation: "conf",
  delivery: "dlv",
  request: "req",
  node: "node",
} as const;

export type IdKind = keyof typeof idPrefixes;

const digits = "0123456789abcdefghjkmnpqrstvwxyz";

let lastMillis = 0;
let lastTail = 0;

/**
 * A new id: the prefix, ten base-32 digits of milliseconds, sixteen of randomness. Ids of one process made in the same
 * millisecond still sort by the order in which they were made (the first four random digits count up).
 */
export function newId(kind: IdKind, now: number = Date.now()): string {
  if (now > lastMillis) {
    lastMillis = now;
    lastTail = Math.floor(Math.random() * 0x80000);
  } else {
    lastTail += 1;
  }
  let time = "";
  for (let rest = lastMillis, i = 0; i < 10; i++) {
    time = digits.charAt(rest % 32) + time;
    rest = Math.floor(rest / 32);
  }
  let tail = "";
  for (let rest = lastTail, i = 0; i < 4; i++) {
    tail = digits.charAt(rest % 32) + tail;
    rest = Math.floor(rest / 32);
  }
  const random = crypto.getRandomValues(new Uint8Array(12));
  for (const byte of random) tail += digits.charAt(byte & 31);
  return `${idPrefixes[kind]}_${time}${tail}`;
}

export function isId(kind: IdKind, text: string): boolean {
  return (
    text.startsWith(`${idPrefixes[kind]}_`) && /^[0-9a-hjkmnp-tv-z]{26}$/.test(text.slice(idPrefixes[kind].length + 1))
  );
}
