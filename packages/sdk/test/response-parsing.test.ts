import { describe, expect, test } from "vitest";
import { at, drivePath, modelParams, segment, withQuery } from "../src/address.ts";
import { readEvents, readLines } from "../src/events.ts";
import { createReplayFilter, isLast, textOf, textSoFar } from "../src/prediction-events.ts";
import type { StreamEvent } from "../src/prediction-records.ts";
import { errorFrom } from "../src/read-error.ts";

/** A body that arrives in pieces of so many bytes. */
function bodyOf(text: string, size: number): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.subarray(at, at + size));
      at += size;
    },
  });
}

test("a line of many pieces is read as fast as many lines", async () => {
  const megabytes = 32;
  const line = `${"x".repeat(megabytes * 1_048_576 - 1)}\n`;
  const began = performance.now();
  const lines = await Array.fromAsync(readLines(bodyOf(line, 16_384)));
  expect([lines.length, lines[0]?.length]).toEqual([1, line.length - 1]);
  // Looked through again with every piece it took 20 seconds and more.
  expect(performance.now() - began).toBeLessThan(15_000);
}, 60_000);

describe("events", () => {
  const text =
    ': hello\n\nretry: 2000\n\nid: 1\nevent: a\ndata: {"x":"é\u{1F30A}"}\n\ndata:one\r\ndata:  two\r\n\r\nevent: c\n\ndata: cut';

  test.each([1, 2, 3, 7, 1000])("are the same in pieces of %i bytes", async (size) => {
    expect(await Array.fromAsync(readEvents(readLines(bodyOf(text, size))))).toEqual([
      { id: "1", name: "a", data: '{"x":"é\u{1F30A}"}' },
      { id: "1", name: undefined, data: "one\n two" },
    ]);
  });

  test("of a reader that leaves are read no further", async () => {
    let isCancelled = false;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new TextEncoder().encode("data: x\n\n")),
      cancel: () => {
        isCancelled = true;
      },
    });
    for await (const _ of readEvents(readLines(body))) break;
    expect(isCancelled).toBe(true);
  });
});

const piece = (...fragments: string[]) => ({ output_data: { output: fragments }, status: 200 });
const end = { output_data: {}, status: 200 };
const ack = { prediction_id: "pred_1" };

/** What is given of connections, one after the other, that brought these events. */
function given(...connections: StreamEvent[][]): StreamEvent[][] {
  const startOver = createReplayFilter();
  return connections.map((events) => {
    const newOf = startOver();
    return events.flatMap((event) => [...newOf(event)]);
  });
}

test("a second connection gives only what the first had not given, however it is cut into fragments", () => {
  const first = [ack, piece("Hel"), piece("lo")];
  expect(given(first, [ack, piece("Hell"), piece("o, ", "you"), end])).toEqual([first, [piece(", you"), end]]);
  const whole = { output_data: { image: "s3://a/b" }, status: 200 };
  expect(given([whole], [whole])).toEqual([[whole], []]);
});

test("a run that began again and says another text is given from its beginning, once, and marked", () => {
  const first = [ack, piece("Hel"), piece("lo")];
  const restarted = (...fragments: string[]) => ({ ...piece(...fragments), restarted: true });
  const failure = { detail: [], status: 499 };
  expect(given(first, [ack, piece("He"), piece("y"), piece("!"), end])[1]).toEqual([restarted("Hey"), piece("!"), end]);
  expect(given(first, [ack, piece("Hel"), end])[1]).toEqual([restarted("Hel"), end]);
  expect(given(first, [ack, failure])[1]).toEqual([restarted(), failure]);
  // Told by the service: in the connection that gave the other text, and in one whose text is known by then.
  expect(given([...first, restarted("Hey"), piece("!")], [ack, piece("Hey!"), end])[1]).toEqual([end]);
  expect(given(first, [ack, piece("Bye"), restarted("Hello"), piece("!"), end])[1]).toEqual([
    restarted("Bye"),
    restarted("Hello"),
    piece("!"),
    end,
  ]);
  expect(given([ack, piece("Bye")], [ack, restarted("Bye"), piece("!")])[1]).toEqual([piece("!")]);
  expect([piece("He"), restarted("Bye"), piece("!"), end].reduce(textSoFar, "")).toBe("Bye!");
});

test.each<Record<string, string[]>>([{ tags: ["red", "blue"] }, { tags: [] }, {}])(
  "output that is not streamed comes once and unchanged, also texts and empty output: %j",
  (output_data) => {
    const whole = { output_data, status: 200, files: {} };
    expect([isLast(whole), isLast(end)]).toEqual([false, true]);
    expect(given([whole], [whole, end])).toEqual([[whole], [end]]);
  },
);

test("names cannot lead to another place", () => {
  expect(drivePath("/a b/c?.txt")).toBe("a%20b/c%3F.txt");
  expect(drivePath("a/%2e%2e/...")).toBe("a/%252e%252e/...");
  for (const wrong of ["", "/", "..", "/..", "a/../b", "./a", "a//b", "a/", "//a"]) {
    expect(() => drivePath(wrong), wrong).toThrow(TypeError);
  }
  const modelPath = (model: string) => at("GET /api/v1/{owner}/{model}", modelParams(model)).path;
  expect(modelPath("gantry/image")).toBe("/api/v1/gantry/image");
  expect(modelPath("a?b/c#d")).toBe("/api/v1/a%3Fb/c%23d");
  for (const wrong of ["", "image", "/image", "a/", "a/b/c", "../..", "a/.."]) {
    expect(() => modelPath(wrong), wrong).toThrow(TypeError);
  }
  expect(segment("a/b")).toBe("a%2Fb");
  expect(() => segment("..")).toThrow(TypeError);
  const since = new Date("2026-01-31T12:00:00Z");
  expect(withQuery("/x", { since, none: undefined, n: 2 })).toBe("/x?since=2026-01-31T12%3A00%3A00.000Z&n=2");
  expect(withQuery("/x", {})).toBe("/x");
});

test("the text of an event is that of its fragments, and of no output that comes whole", () => {
  expect(textOf({ output_data: { output: ["Hel", "lo"] }, status: 200 })).toBe("Hello");
  for (const none of [
    { prediction_id: "pred_1" },
    { output_data: {}, status: 200 },
    { output_data: { out: "did hi", list: ["a"] }, status: 200 },
    { output_data: { images: ["s3://a/b", "s3://a/c"] }, status: 200, files: {} },
  ]) {
    expect(textOf(none), JSON.stringify(none)).toBe("");
  }
});

test.each([
  [400, "invalid_input"],
  [401, "unauthorized"],
  [403, "forbidden"],
  [404, "not_found"],
  [412, "precondition_failed"],
  [429, "rate_limit"],
  [500, "internal"],
  [503, "unavailable"],
])("a HEAD answered with %i has a type without a body", (status, type) => {
  // The service sends it with all but 401.
  const headers = new Headers(status === 401 ? {} : { "x-service-retryable": String(status > 412) });
  expect(errorFrom({ status, headers }, undefined)).toMatchObject({ status, type, retryable: status > 412 });
});

test("a message names the field that it is about, and nothing where it is about none", () => {
  const detail = [
    { loc: ["body"], msg: "The service behind this model failed" },
    { loc: ["body", "prompt"], msg: "Field required" },
  ];
  expect(errorFrom({ status: 502 }, { detail }).message).toBe(
    "The service behind this model failed; body.prompt: Field required",
  );
});

test("what an error tells beside its issues is kept", () => {
  const of = (details: unknown) => errorFrom({ status: 409 }, { error: { type: "conflict", message: "no", details } });
  expect(of({ agents: [1] })).toMatchObject({ details: { agents: [1] }, issues: [], message: "no" });
  expect(of([{ loc: ["body"], message: "wrong", reason: "missing" }])).toMatchObject({
    details: undefined,
    issues: [{ type: "missing" }],
  });
  for (const none of [undefined, null, "text", 7]) expect(of(none).details).toBeUndefined();
});

test("an error of another server is still an error", () => {
  const headers = new Headers({ location: "https://elsewhere.example/" });
  expect(errorFrom({ status: 301, headers }, undefined)).toMatchObject({
    message: "HTTP 301, redirect to https://elsewhere.example/",
    retryable: false,
    issues: [],
  });
  expect(errorFrom({ status: 502 }, { detail: "<html>Bad gateway</html>" })).toMatchObject({
    type: undefined,
    retryable: true,
  });
  for (const body of [null, 5, "text", [], { detail: 5 }, { error: "text" }, { detail: [{}] }]) {
    expect(errorFrom({ status: 500 }, body).status, JSON.stringify(body)).toBe(500);
  }
});
