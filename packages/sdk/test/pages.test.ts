import { describe, expect, test } from "vitest";
import { eachListed, eachOf, type Page, pageOver } from "../src/pages.ts";

const named = (many: number, name = "old") => Array.from({ length: many }, (_, n) => `${name} ${n}`);

/** A list as a service gives it, in pages of a hundred at most. */
function listOf(entries: string[]) {
  const list = { entries, asked: 0 };
  const read = async ({ page, page_size }: { page: number; page_size: number }): Promise<Page<string>> => {
    list.asked++;
    expect(page_size).toBeLessThanOrEqual(100);
    const results = list.entries.slice((page - 1) * page_size, page * page_size);
    const total_count = list.entries.length;
    return { results, page, page_size, total_count, total_pages: Math.ceil(total_count / page_size) };
  };
  return Object.assign(list, { each: () => eachOf(read, (entry) => entry) });
}

test("a page that is to take up an entry has it, and reaches farther", () => {
  for (let place = 0; place < 20_000; place++) {
    const { page, page_size } = pageOver(place);
    expect(page_size).toBeLessThanOrEqual(100);
    expect((page - 1) * page_size).toBeLessThanOrEqual(place);
    expect(page * page_size - place).toBeGreaterThanOrEqual(50);
  }
  expect(pageOver(0)).toEqual({ page: 1, page_size: 100 });
});

describe("a list that does not change", () => {
  test.each([0, 1, 99, 100, 101, 1000])(
    "of %i entries is read whole, in not many more pages than it has",
    async (many) => {
      const list = listOf(named(many));
      expect(await Array.fromAsync(list.each())).toEqual(named(many));
      expect(list.asked).toBeLessThanOrEqual(Math.ceil(many / 100) * 1.2 + 1);
      if (many <= 100) expect(list.asked).toBe(1);
    },
  );

  test("by limit and offset is read to its end, and no farther than the loop goes", async () => {
    const entries = named(7);
    const asked: number[] = [];
    const read = async ({ limit, offset }: { limit: number; offset: number }) => {
      asked.push(offset);
      return { entries: entries.slice(offset, offset + limit), total: entries.length };
    };
    expect(await Array.fromAsync(eachListed(read, (entry) => entry, 3))).toEqual(entries);
    expect(asked).toEqual([0, 2, 4]);
    asked.length = 0;
    expect(await Array.fromAsync(eachListed(read, (entry) => entry))).toEqual(entries);
    expect(asked).toEqual([0]);
    for await (const _ of eachListed(read, (entry) => entry, 3)) break;
    expect(asked).toEqual([0, 0]);
  });
});

describe("a list that changes while it is read gives everything that was there all the time, and that once", () => {
  /** What a loop over 1000 entries gives, in which `change` is called after each. */
  async function told(change: (list: { entries: string[] }, entry: string, n: number) => void) {
    const list = listOf(named(1000));
    const seen: string[] = [];
    for await (const entry of list.each()) {
      seen.push(entry);
      change(list, entry, seen.length);
    }
    expect(new Set(seen).size).toBe(seen.length);
    return { seen, asked: list.asked, entries: list.entries };
  }

  test.each([1, 99, 100, 101, 250, 3000])("when %i are added in front for every hundred", async (more) => {
    const { seen, asked } = await told((list, _, n) => {
      if (n % 100 === 0) list.entries.unshift(...named(more, `new ${n}`));
    });
    expect(seen.filter((entry) => entry.startsWith("old"))).toEqual(named(1000));
    expect(asked).toBeLessThan(60);
  });

  test.each([1, 2, 3, 7])("when every %ith is deleted as it is given", async (nth) => {
    const { seen, asked } = await told((list, entry, n) => {
      if (n % nth === 0) list.entries.splice(list.entries.indexOf(entry), 1);
    });
    expect(seen).toEqual(named(1000));
    expect(asked).toBeLessThan(60);
  });

  test("when each is deleted and another put at the end, or in front", async () => {
    for (const put of ["push", "unshift"] as const) {
      const { seen } = await told((list, entry) => {
        if (!entry.startsWith("old")) return;
        list.entries.splice(list.entries.indexOf(entry), 1);
        list.entries[put](`new ${entry}`);
      });
      expect(seen.filter((entry) => entry.startsWith("old"))).toEqual(named(1000));
    }
  });

  test("when half of those that follow are deleted", async () => {
    const { seen, entries } = await told((list, _, n) => {
      if (n === 50) list.entries = list.entries.filter((_entry, at) => at < 100 || at % 2 === 0);
    });
    expect(seen).toEqual(entries);
  });

  test("when all are deleted at once", async () => {
    const { seen } = await told((list, _, n) => {
      if (n === 150) list.entries = [];
    });
    expect(seen).toEqual(named(198));
  });
});
