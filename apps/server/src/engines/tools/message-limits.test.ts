import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { waitFor } from "../../../test/support/wait-for.ts";
import { countInAll, eventsIn, listedIn, paceMessages } from "./message-limits.ts";
import { initializeResult, json, type Script, text } from "./scripted-server.fixture.ts";
import type { ToolServerTarget } from "./tools.ts";
import { useToolsBench } from "./tools-bench.fixture.ts";

const { bench } = useToolsBench();
const flood = { reason: "too_large", message: "The server sends too many messages" };
/** A tenth of the defaults, so that a small flood is enough. */
const narrow = { answerMessages: 1_000, messagesAtOnce: 500, messagesASecond: 100, heldBackMs: 500 };
const remark = '{"jsonrpc":"2.0","method":"notifications/x"}';

function stream(response: ServerResponse, body: string): void {
  response.writeHead(200, { "content-type": "text/event-stream" }).end(body);
}
const answerTo = (id: unknown, result: object) => `data: ${JSON.stringify({ jsonrpc: "2.0", id, result })}\n\n`;

describe("a server that sends too many messages", () => {
  it.each([
    ["empty objects", "data: {}\n\n"],
    ["notifications", `data: ${remark}\n\n`],
    ["answers to nothing", 'data: {"jsonrpc":"2.0","id":77,"result":{}}\n\n'],
    ["carriage returns", "data: {}\r\r"],
    ["meaningless lines", "x\nx\nx\nx\nx\n"],
  ])(
    "(%s) is left before they are read",
    async (_what, event) => {
      const { call, tools, target } = await bench(
        {
          "on tools/call": ({ response, message }) =>
            stream(response, event.repeat(20_000) + answerTo(message.id, text("done"))),
        },
        narrow,
      );
      await tools.listTools(target);
      await expect(call()).rejects.toMatchObject({ ...flood, outcome: "unknown" });
      expect((await tools.listTools(target)).tools).toHaveLength(1);
    },
    120_000,
  );

  it.each([["Text/Event-Stream"], [" text/event-stream ;charset=utf-8"]])("under the type %j", async (type) => {
    const { call } = await bench(
      {
        "on tools/call": ({ response }) =>
          response.writeHead(200, { "content-type": type }).end("data: {}\n\n".repeat(20_000)),
      },
      narrow,
    );
    await expect(call()).rejects.toMatchObject(flood);
  });

  it("outside of answers, under any type", async () => {
    let isCut = false;
    const { call } = await bench(
      {
        onStream: (_request, response) => {
          response.once("close", () => {
            isCut = true;
          });
          response.writeHead(200, { "content-type": "application/json" }).write("data: {}\n\n".repeat(20_000));
        },
        "on tools/call": () => {},
      },
      narrow,
    );
    await expect(call()).rejects.toMatchObject(flood);
    await waitFor("the stream to be cut", () => isCut);
  });

  it("in the handshake, over both kinds of connection", async () => {
    const events = "data: {}\n\n".repeat(20_000);
    const { tools, target } = await bench(
      {
        "on initialize": ({ response, message }) => stream(response, events + answerTo(message.id, initializeResult)),
        onStream: (_request, response) => stream(response, events),
      },
      // Reading takes longer on a busy machine, and is not to end by its time.
      { ...narrow, connectMs: 60_000, listMs: 60_000 },
    );
    const refused = { ...flood, outcome: "not_made" };
    await expect(tools.listTools(target)).rejects.toMatchObject(refused);
    const sse: ToolServerTarget = { ...target, revision: 2, connectionType: "sse" };
    await expect(tools.listTools(sse)).rejects.toMatchObject(refused);
  }, 120_000);

  it("in one list of JSON", async () => {
    const { call } = await bench(
      {
        "on tools/call": ({ response, message }) => {
          const answer = JSON.stringify({ jsonrpc: "2.0", id: message.id, result: text("done") });
          const list = `[${`${remark},`.repeat(30_000)}${answer}]`;
          response.writeHead(200, { "content-type": "application/json" }).end(list);
        },
      },
      narrow,
    );
    await expect(call()).rejects.toMatchObject({ ...flood, outcome: "unknown" });
  });
});

describe("a flood", () => {
  const events = "data: {}\n\n".repeat(20_000);

  it("in one answer ends that call alone", async () => {
    const { tools, target, count } = await bench(
      {
        "on tools/call": ({ response, message, answer }) => {
          if (message.params.name === "slow") setTimeout(() => answer(text("slow")), 1500);
          else stream(response, events);
        },
      },
      narrow,
    );
    const slow = tools.callTool(target, { userId: "one", tool: "slow", arguments: {} });
    await waitFor("the slow call", () => count("tools/call") === 1);
    await expect(tools.callTool(target, { userId: "one", tool: "loud", arguments: {} })).rejects.toMatchObject(flood);
    expect((await slow).content).toEqual([{ type: "text", text: "slow" }]);
    expect(count("initialize")).toBe(1);
  });

  it("that comes unasked ends the connection, and the server's session", async () => {
    const { call, server } = await bench(
      {
        "on initialize": ({ response, message }) => {
          response.setHeader("mcp-session-id", "s-1");
          json(response, { jsonrpc: "2.0", id: message.id, result: initializeResult });
        },
        onStream: (_request, response) => void stream(response, events),
        "on tools/call": () => {},
      },
      narrow,
    );
    await expect(call()).rejects.toMatchObject(flood);
    await waitFor("the farewell", () =>
      server.requests.some(({ method, headers }) => method === "DELETE" && headers["mcp-session-id"] === "s-1"),
    );
  });
});

it("thousands of messages and a large answer are read", async () => {
  const large = `${'{"a":[1,"]",{}],'.repeat(3)}\n\n`.repeat(20_000);
  const script: Script = {
    "on tools/call": ({ response, message }) =>
      stream(response, `data: ${remark}\n\n`.repeat(1500) + answerTo(message.id, text(large))),
  };
  const { call, server } = await bench(script);
  expect((await call()).content).toEqual([{ type: "text", text: large }]);
  server.script = {
    "on tools/call": ({ response, message }) => {
      const answer = JSON.stringify({ jsonrpc: "2.0", id: message.id, result: text(large) });
      response.writeHead(200, { "content-type": "application/json" }).end(`[${remark},${answer}]`);
    },
  };
  expect((await call()).content).toEqual([{ type: "text", text: large }]);
});

it("an answer on many lines is read", async () => {
  const rows = Array.from({ length: 60_000 }, (_, at) => ({ at, name: "abc" }));
  const { call } = await bench({
    "on tools/call": ({ response, message }) => {
      const answer = { jsonrpc: "2.0", id: message.id, result: { content: [], structuredContent: { rows } } };
      stream(response, `${JSON.stringify(answer, null, 1).replace(/^/gm, "data: ")}\n\n`);
    },
  });
  expect((await call()).structured).toEqual({ rows });
});

it("an `sse` stream may carry the messages of all parallel calls", async () => {
  let events: ServerResponse | undefined;
  const { tools, target, server } = await bench(
    {
      onStream: (_request, response) => {
        events = response.writeHead(200, { "content-type": "text/event-stream" });
        events.write("event: endpoint\ndata: /mcp\n\n");
      },
      "on initialize": ({ response, message }) => {
        response.writeHead(202).end();
        events?.write(answerTo(message.id, initializeResult));
      },
      "on tools/call": ({ response, message }) => {
        response.writeHead(202).end();
        events?.write(`data: ${remark}\n\n`.repeat(100) + answerTo(message.id, text("done")));
      },
    },
    { messagesAtOnce: 120, messagesASecond: 10, heldBackMs: 100 },
  );
  const sse: ToolServerTarget = { ...target, url: server.url, connectionType: "sse" };
  const calls = [1, 2, 3, 4].map(() => tools.callTool(sse, { userId: "one", tool: "echo", arguments: {} }));
  expect(await Promise.all(calls)).toHaveLength(4);
});

describe("counting", () => {
  const bytes = (text: string) => new TextEncoder().encode(text);
  /** At once, and byte by byte. */
  const counts = (make: () => (chunk: Uint8Array) => number, text: string) => {
    const count = make();
    return [make()(bytes(text)), [...bytes(text)].reduce((sum, byte) => sum + count(Uint8Array.of(byte)), 0)];
  };

  it("events end with an empty line, wherever chunks end", () => {
    expect(counts(eventsIn, `: x\n${"data: x\n".repeat(120)}\n`)).toEqual([1, 1]);
    expect(counts(eventsIn, `${": x\ndat\nid: 1\ndatas: 1\n".repeat(5)}\n`)).toEqual([3, 3]);
    expect(counts(eventsIn, `data: ${"x".repeat(40_000)}\n\n`)).toEqual([3, 3]);
    expect(counts(eventsIn, "data: 1\n\n: x\ndata: 2\ndata: 3\n\n\ndata: 4")).toEqual([3, 3]);
  });

  it("only commas between the messages of a list count", () => {
    expect(counts(listedIn, ' [{"a":[1,2],"b":"\\\\\\",]"} , {"c":{"d":1,"e":2}}, {}]')).toEqual([2, 2]);
    expect(counts(listedIn, '{"a":[1,2,3],"b":4}')).toEqual([0, 0]);
  });

  it("the total of a list is limited", () => {
    const count = countInAll(3);
    count(3);
    expect(() => count(1)).toThrow("too many messages");
  });
});

describe("the pace of a stream", () => {
  /** Messages of successive seconds. Pauses are added to the clock. */
  const pauses = (...seconds: number[]) => {
    let now = 0;
    const pace = paceMessages({ atOnce: 5000, aSecond: 1000, heldBackMs: 5000 }, () => now);
    return seconds.map((messages) => {
      now += 1000;
      const pause = pace(messages);
      now += pause;
      return pause;
    });
  };

  it("allows bursts and the steady pace", () => {
    expect(pauses(5000, 1000, 900, 1000)).toEqual([0, 0, 0, 0]);
    expect(new Set(pauses(...Array(600).fill(1000)))).toEqual(new Set([0]));
  });

  it("slows a somewhat faster stream down", () => {
    const held = pauses(...Array(600).fill(1500));
    expect(held.slice(0, 8)).toEqual(Array(8).fill(0));
    expect(held.at(-1)).toBe(500);
  });

  it("ends a stream that stays too fast, or sends far too much at once", () => {
    expect(() => pauses(5000, ...Array(30).fill(4000))).toThrow("too many messages");
    expect(() => pauses(10_500)).toThrow("too many messages");
  });
});
