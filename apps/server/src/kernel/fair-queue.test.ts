import { expect, test } from "vitest";
import { createFairQueue } from "./fair-queue.ts";

const crowded = "Too much waits";

/** Jobs that run until the test ends them, and their starting order. */
function bench(options: { atOnce?: number; ofOne: number; maxWaiting?: number }) {
  const inTurn = createFairQueue({ maxWaiting: 100, crowded, ...options });
  const began: string[] = [];
  const ends = new Map<string, () => void>();
  const add = (work: string, signal?: AbortSignal) =>
    inTurn(
      work.charAt(0),
      () => {
        began.push(work);
        return new Promise<string>((resolve) => ends.set(work, () => resolve(work)));
      },
      signal,
    );
  const end = async (work: string) => {
    ends.get(work)?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { add, end, began };
}

test("the first job of every name runs before the second of any", async () => {
  const { add, end, began } = bench({ atOnce: 2, ofOne: 2 });
  const all = ["a1", "a2", "a3", "a4", "a5", "b1", "b2", "c1"].map((work) => add(work));
  expect(began).toEqual(["a1", "a2"]);
  await end("a1");
  expect(began.at(-1)).toBe("b1");
  await end("b1");
  // One job of a is still running, so b's second and a's third wait for c's first.
  expect(began.at(-1)).toBe("c1");
  await end("c1");
  expect(began.at(-1)).toBe("b2");
  await end("a2");
  expect(began.at(-1)).toBe("a3");
  for (const work of ["b2", "a3", "a4", "a5"]) await end(work);
  expect(await Promise.all(all)).toEqual(["a1", "a2", "a3", "a4", "a5", "b1", "b2", "c1"]);
});

test("names with equally many running jobs alternate", async () => {
  const { add, end, began } = bench({ atOnce: 1, ofOne: 1 });
  const all = ["a1", "a2", "a3", "b1", "b2", "b3"].map((work) => add(work));
  for (let n = 0; n < all.length; n++) await end(began.at(-1) ?? "");
  await Promise.all(all);
  expect(began).toEqual(["a1", "b1", "a2", "b2", "a3", "b3"]);
});

test("one name cannot take all slots", async () => {
  const { add, end, began } = bench({ atOnce: 3, ofOne: 2 });
  const all = ["a1", "a2", "a3", "b1"].map((work) => add(work));
  expect(began).toEqual(["a1", "a2", "b1"]);
  await end("b1");
  expect(began).toHaveLength(3);
  await end("a1");
  expect(began.at(-1)).toBe("a3");
  for (const work of ["a2", "a3"]) await end(work);
  await Promise.all(all);
});

test("too many jobs of one name are refused, and other names may still wait", async () => {
  const { add, end } = bench({ atOnce: 1, ofOne: 1, maxWaiting: 2 });
  const all = ["a1", "a2", "a3"].map((work) => add(work));
  await expect(add("a4")).rejects.toMatchObject({ type: "service_unavailable", retryable: true, message: crowded });
  const others = ["b1", "b2"].map((work) => add(work));
  await expect(add("b3")).rejects.toThrow(crowded);
  for (const work of ["a1", "b1", "a2", "b2", "a3"]) await end(work);
  await Promise.all([...all, ...others]);
});

test("an aborted wait and a failed job both free their slot", async () => {
  const { add, end, began } = bench({ atOnce: 1, ofOne: 1, maxWaiting: 1 });
  const first = add("a1");
  const leaving = new AbortController();
  const second = add("a2", leaving.signal);
  leaving.abort(new Error("second thoughts"));
  await expect(second).rejects.toThrow("second thoughts");
  await expect(add("a9", leaving.signal)).rejects.toThrow("second thoughts");
  const third = add("a3");
  await end("a1");
  await end("a3");
  expect(await Promise.all([first, third])).toEqual(["a1", "a3"]);
  expect(began).toEqual(["a1", "a3"]);

  const inTurn = createFairQueue({ ofOne: 1, maxWaiting: 1, crowded });
  const fails = inTurn("a", () => Promise.reject(new Error("no")));
  const goesOn = inTurn("a", async () => "yes");
  await expect(fails).rejects.toThrow("no");
  expect(await goesOn).toBe("yes");
});

test("without atOnce only the limit per name applies", async () => {
  const { add, end, began } = bench({ ofOne: 1 });
  const all = ["a1", "b1", "a2", "c1"].map((work) => add(work));
  expect(began).toEqual(["a1", "b1", "c1"]);
  for (const work of ["b1", "c1", "a1", "a2"]) await end(work);
  expect(await Promise.all(all)).toHaveLength(4);
});
