import { ranges } from "../foundation/preferred-type.rules.ts";

/** What a file can be sent as, the smallest first. Browsers want Brotli over TLS alone. */
const encodings = ["br", "gzip"] as const;
export type Encoding = (typeof encodings)[number];

/** The encoding that a client likes best, of those that it likes equally the smallest; undefined: as it is. */
export function chooseEncoding(accept: string | undefined): Encoding | undefined {
  if (accept === undefined) return undefined;
  const liked = ranges(accept);
  const qualityOf = (name: string) =>
    (liked.find(({ type }) => type === name) ?? liked.find(({ type }) => type === "*"))?.quality ?? 0;
  const best = Math.max(...encodings.map(qualityOf));
  return best > 0 ? encodings.find((name) => qualityOf(name) === best) : undefined;
}
