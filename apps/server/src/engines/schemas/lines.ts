import { fault } from "../../kernel/errors.ts";

/** Runs work of the same name one after the other, in the order in which it came. Of one name only so much may wait. */
export function createLines(maxWaiting: number, crowded: string) {
  const lines = new Map<string, { last: Promise<unknown>; length: number }>();
  return async function inLine<T>(name: string, work: () => Promise<T>): Promise<T> {
    const line = lines.get(name) ?? { last: Promise.resolve(), length: 0 };
    if (line.length > maxWaiting) throw fault("service_unavailable", crowded);
    lines.set(name, line);
    line.length++;
    const mine = line.last.then(work, work);
    line.last = mine;
    try {
      return await mine;
    } finally {
      line.length--;
      if (line.length === 0) lines.delete(name);
    }
  };
}
