import { expect, test } from "vitest";
import { GantryError } from "../src/errors.ts";
import { readLines } from "../src/events.ts";
import { eachListed, eachOf } from "../src/pages.ts";
import { eventOf } from "../src/prediction-events.ts";
import { errorFrom } from "../src/read-error.ts";

test.each(["", "{", "null", "7", '{"output_data":null}'])("a malformed event is a connection error: %j", (text) => {
  expect(() => eventOf(text)).toThrow(GantryError);
  expect(() => eventOf(text)).toThrow(expect.objectContaining({ type: "connection_error", status: 0 }));
});

test("an error with malformed issues keeps its status", () => {
  const failure = errorFrom({ status: 422 }, { detail: [null, 7, { loc: "body", msg: "wrong", type: "missing" }] });
  expect(failure).toMatchObject({ status: 422, type: "missing", retryable: false });
  expect(failure.issues).toEqual([{ loc: ["body"], message: "wrong", type: "missing" }]);
});

test("an event says itself that it is not worth a repeat, where its type would say the opposite", () => {
  const detail = [{ loc: ["body"], msg: "late", type: "service_unavailable" }];
  expect(errorFrom({ status: 503 }, { detail }).retryable).toBe(true);
  expect(errorFrom({ status: 503 }, { detail, retryable: false }).retryable).toBe(false);
});

test("a line without an end is given up", async () => {
  const piece = new Uint8Array(8 * 1024 * 1024).fill(97);
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      sent++;
      controller.enqueue(piece);
    },
  });
  await expect(Array.fromAsync(readLines(body))).rejects.toThrow("too long");
  expect(sent).toBeLessThan(20);
});

test("a list that brings the same page for ever comes to an end", async () => {
  let pages = 0;
  const read = async ({ page, page_size }: { page: number; page_size: number }) => {
    pages++;
    return { results: [{ id: "a" }], page, page_size, total_count: 1e9, total_pages: 1e9 };
  };
  expect(await Array.fromAsync(eachOf(read, ({ id }) => id))).toEqual([{ id: "a" }]);
  expect(pages).toBeLessThan(200);
});

test("a list that runs away from its reader is given up", async () => {
  let pages = 0;
  const read = async ({ offset }: { offset: number }) => {
    pages++;
    const entries = offset === 0 ? Array.from({ length: 100 }, (_, n) => `${n}`) : [`elsewhere ${pages}`];
    return { entries, total: offset + 1e6 * pages };
  };
  expect(await Array.fromAsync(eachListed(read, (id) => id))).toHaveLength(100);
  expect(pages).toBeLessThan(200);
});
