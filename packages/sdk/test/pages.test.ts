import { describe, expect, test } from "vitest";
import { createClient, type GantryClient } from "../src/index.ts";
import { eachListed, eachOf, eachSearched, type Page, pageOver, type SearchedPage } from "../src/pages.ts";

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

describe("a search that reads a part of the range at a time", () => {
  interface Entry {
    id: string;
    at: string;
  }

  /** Newest first. A search reads `most` entries of the range, and `matches` selects among them. */
  function searchOf(entries: Entry[], most: number, matches: (entry: Entry) => boolean) {
    const asked: (string | undefined)[] = [];
    const read = async (range: { page: number; page_size: number; to_date?: Date | string | undefined }) => {
      const { page, page_size, to_date } = range;
      const until = to_date?.toString();
      asked.push(until);
      const searched = entries.filter(({ at }) => until === undefined || at <= until).slice(0, most);
      const found = searched.filter(matches);
      const oldest = searched.at(-1)?.at ?? null;
      return {
        results: found.slice((page - 1) * page_size, page * page_size),
        page,
        page_size,
        total_count: found.length,
        total_pages: Math.ceil(found.length / page_size),
        searched_from: searched.length === most ? oldest : null,
      } satisfies SearchedPage<Entry>;
    };
    return { asked, each: (until?: string) => eachSearched(read, ({ id }) => id, until) };
  }
  const entriesOf = (many: number, every: number): Entry[] =>
    Array.from({ length: many }, (_, n) => ({
      id: `${n}`,
      at: new Date((many - Math.floor(n / every)) * 1000).toISOString(),
    }));

  test("gives what it finds in the whole range once, also without a match in a part", async () => {
    const entries = entriesOf(1000, 3);
    const odd = ({ id }: Entry) => Number(id) % 2 === 1 && Math.floor(Number(id) / 300) !== 1;
    const { each } = searchOf(entries, 250, odd);
    expect(await Array.fromAsync(each())).toEqual(entries.filter(odd));
    const until = entries[500]?.at ?? "";
    expect(await Array.fromAsync(each(until))).toEqual(entries.filter((entry) => odd(entry) && entry.at <= until));
  });

  test("ends where one moment has more entries than a search reads", async () => {
    const entries = entriesOf(100, 100);
    const { asked, each } = searchOf(entries, 40, () => true);
    expect(await Array.fromAsync(each())).toEqual(entries.slice(0, 40));
    expect(asked).toEqual([undefined, entries[0]?.at]);
  });

  test("reads no farther than the loop goes", async () => {
    const { asked, each } = searchOf(entriesOf(100, 1), 40, () => true);
    for await (const _ of each()) break;
    expect(asked).toEqual([undefined]);
  });

  test.each<[string, (client: GantryClient) => AsyncGenerator<{ id: string }>]>([
    ["files", ({ files }) => files.each({ q: "x" })],
    ["predictions", ({ predictions }) => predictions.each({ model: "a/b" })],
  ])("continues a search of %s that found nothing yet", async (path, each) => {
    const from = "2026-01-31T12:00:00.000Z";
    const answer = async (address: unknown) => {
      const { pathname, searchParams } = new URL(String(address));
      expect(pathname).toBe(`/api/v2/${path}`);
      const results = searchParams.get("to_date") === from ? [{ id: "old" }] : [];
      const counts = { page: 1, page_size: 100, total_count: results.length, total_pages: 1 };
      return Response.json({ results, ...counts, searched_from: results.length > 0 ? null : from });
    };
    const client = createClient({ url: "http://localhost", fetch: answer });
    expect(await Array.fromAsync(each(client))).toEqual([{ id: "old" }]);
  });
});
