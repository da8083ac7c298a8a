import { isRecord } from "./schema-values.ts";
import { nameWords } from "./words.ts";

/** The run's input or the result of a tool. */
export interface Source {
  /** The words of the tool's name: the `id` in a result of `get_user` is a user id. */
  about: readonly string[];
  value: unknown;
}

const mostNodes = 5000;

/**
 * The value with a name at any depth, the shallowest first. `user_id` also finds `user: {id}`, and the `id` in the result
 * of a tool about users.
 */
export function findNamed(sources: readonly Source[], name: string, fits: (value: unknown) => boolean): unknown {
  const sought = nameWords(name).join(" ");
  if (sought === "") return undefined;
  for (const { about, value } of sources) {
    const found = search(value, about, sought, fits);
    if (found !== undefined) return found;
  }
  return undefined;
}

function search(root: unknown, about: readonly string[], sought: string, fits: (value: unknown) => boolean): unknown {
  let level: { value: unknown; path: readonly string[] }[] = [{ value: root, path: about }];
  let visited = 0;
  while (level.length > 0) {
    const next: typeof level = [];
    for (const { value, path } of level) {
      const entries = Array.isArray(value)
        ? value.slice(0, 100).map((item) => [undefined, item] as const)
        : isRecord(value)
          ? Object.entries(value)
          : [];
      for (const [key, inner] of entries) {
        if (++visited > mostNodes) return undefined;
        const words = key === undefined ? [] : nameWords(key);
        if (key !== undefined && isNamed(path, words, sought) && fits(inner)) return inner;
        if (typeof inner === "object" && inner !== null)
          next.push({ value: inner, path: [...path, ...words].slice(-6) });
      }
    }
    level = next;
  }
  return undefined;
}

function isNamed(path: readonly string[], words: readonly string[], sought: string): boolean {
  const own = words.join(" ");
  if (own === sought) return true;
  const parts = sought.split(" ");
  // `user_id` matches the path `user` with the key `id`.
  return parts.length > 1 && own === parts.at(-1) && parts.slice(0, -1).every((part) => path.includes(part));
}
