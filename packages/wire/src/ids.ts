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
  secret: "sec",
  delivery: "dlv",
  request: "req",
  node: "node",
  response: "resp",
  thread: "thr",
  schedule: "sch",
  trigger: "trg",
  batch: "batch",
  oauthClient: "oac",
  notice: "ntc",
} as const;

export type IdKind = keyof typeof idPrefixes;

const digits = "0123456789abcdefghjkmnpqrstvwxyz";

// Randomness is read in bulk, because each read costs more than the rest of an id.
const tailBytes = 12;
const pool = new Uint8Array(tailBytes * 256);
let poolAt = pool.length;

let lastMillis = 0;
let lastTail = 0;

/**
 * The prefix, ten base-32 digits of milliseconds, sixteen of randomness. Ids of one process sort by creation within a
 * millisecond (the first four random digits count up).
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
  if (poolAt + tailBytes > pool.length) {
    crypto.getRandomValues(pool);
    poolAt = 0;
  }
  for (const end = poolAt + tailBytes; poolAt < end; poolAt++) tail += digits.charAt((pool[poolAt] ?? 0) & 31);
  return `${idPrefixes[kind]}_${time}${tail}`;
}

export function isId(kind: IdKind, text: string): boolean {
  return (
    text.startsWith(`${idPrefixes[kind]}_`) && /^[0-9a-hjkmnp-tv-z]{26}$/.test(text.slice(idPrefixes[kind].length + 1))
  );
}
