import { ranges } from "../foundation/preferred-type.rules.ts";

/** Smallest first. Browsers accept Brotli over TLS only. */
const encodings = ["br", "gzip"] as const;
export type Encoding = (typeof encodings)[number];

/** The encoding that the client prefers, the smallest of equals; undefined: none. */
export function chooseEncoding(accept: string | undefined): Encoding | undefined {
  if (accept === undefined) return undefined;
  const liked = ranges(accept);
  const qualityOf = (name: string) =>
    (liked.find(({ type }) => type === name) ?? liked.find(({ type }) => type === "*"))?.quality ?? 0;
  const best = Math.max(...encodings.map(qualityOf));
  return best > 0 ? encodings.find((name) => qualityOf(name) === best) : undefined;
}
