import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { waitFor } from "../../../test/support/wait-for.ts";
import { echoTool, initializeResult, json, type Script, text } from "./scripted-server.fixture.ts";
import { useToolsBench } from "./tools-bench.fixture.ts";

const { bench } = useToolsBench();

describe("credentials", () => {
  const demanding: Script = {
    before: (request, response) => {
      if (request.headers.authorization === "Bearer right") return false;
      json(response, { error: "who are you?" }, 401);
      return true;
    },
  };

  it.each(["streamable_http", "sse"] as const)("without them, or with wrong ones, over %s", async (connectionType) => {
    const { tools, target } = await bench(demanding);
    const unauthorized = { reason: "unauthorized", outcome: "not_made" };
    await expect(tools.listTools({ ...target, connectionType })).rejects.toMatchObject(unauthorized);
    const wrong = { ...target, revision: 2, connectionType, header: { name: "authorization", value: "Bearer wrong" } };
    await expect(tools.listTools(wrong)).rejects.toMatchObject(unauthorized);
  });

  it("are refused after the handshake", async () => {
    const { call } = await bench({ "on tools/call": ({ response }) => json(response, {}, 403) });
    await expect(call()).rejects.toMatchObject({ reason: "unauthorized", status: 403, outcome: "not_made" });
  });

  it("are sent with every request, and change with the revision", async () => {
    const { server, tools, target } = await bench(demanding);
    const right = { ...target, header: { name: "Authorization", value: "Bearer right" } };
    expect((await tools.listTools(right)).tools).toHaveLength(1);
    const other = { ...target, revision: 2, header: { name: "x-api-key", value: "a key" } };
    await expect(tools.listTools(other)).rejects.toMatchObject({ reason: "unauthorized" });
    expect(server.requests.at(-1)?.headers).toMatchObject({ "x-api-key": "a key" });
    expect(server.requests.at(-1)?.headers.authorization).toBeUndefined();
  });
});

describe("lists of tools", () => {
  const page = (from: number, count: number) =>
    Array.from({ length: count }, (_, at) => ({ ...echoTool, name: `tool-${from + at}` }));

  it("are followed to their last page", async () => {
    const { tools, target, count } = await bench({
      "on tools/list": ({ message, answer }) => {
        const from = Number(message.params?.cursor ?? 0);
        answer({ tools: page(from, 10), ...(from < 40 && { nextCursor: String(from + 10) }) });
      },
    });
    const { tools: listed } = await tools.listTools(target);
    expect(listed.map(({ name }) => name)).toEqual(page(0, 50).map(({ name }) => name));
    expect(count("tools/list")).toBe(5);
  });

  it("end at a repeated cursor", async () => {
    const { tools, target } = await bench({
      "on tools/list": ({ message, answer }) =>
        answer({
          tools: page(message.params?.cursor === "b" ? 1 : 0, 1),
          nextCursor: message.params?.cursor === "a" ? "b" : "a",
        }),
    });
    expect((await tools.listTools(target)).tools).toHaveLength(2);
  });

  it("end after a hundred pages or a thousand tools", async () => {
    let pages = 0;
    const { tools, target } = await bench({
      "on tools/list": ({ answer }) => answer({ tools: page(pages, 1), nextCursor: `page ${++pages}` }),
    });
    expect((await tools.listTools(target)).tools).toHaveLength(100);
    const second = await bench({ "on tools/list": ({ answer }) => answer({ tools: page(0, 5000) }) });
    expect((await second.tools.listTools(second.target)).tools).toHaveLength(1000);
  });

  it("are cached, and read again when the server reports a change", async () => {
    let offered = 1;
    let stream: import("node:http").ServerResponse | undefined;
    const { tools, target, count } = await bench({
      "on tools/list": ({ answer }) => answer({ tools: page(0, offered) }),
      onStream: (_request, response) => {
        stream = response.writeHead(200, { "content-type": "text/event-stream" });
        stream.flushHeaders();
      },
    });
    expect((await tools.listTools(target)).tools).toHaveLength(1);
    offered = 2;
    expect((await tools.listTools(target)).tools).toHaveLength(1);
    expect(count("tools/list")).toBe(1);
    await waitFor("the stream", () => stream !== undefined);
    stream?.write('data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n');
    await waitFor("the change to be noticed", async () => (await tools.listTools(target)).tools.length === 2);
    offered = 3;
    expect((await tools.listTools(target, { fresh: true })).tools).toHaveLength(3);
  });

  it("are read again after some time", async () => {
    let offered = 1;
    const { tools, target } = await bench(
      { "on tools/list": ({ answer }) => answer({ tools: page(0, offered) }) },
      { listTtlMs: 100 },
    );
    expect((await tools.listTools(target)).tools).toHaveLength(1);
    offered = 2;
    await sleep(150);
    expect((await tools.listTools(target)).tools).toHaveLength(2);
  });

  it("of a server without tools are empty", async () => {
    const { tools, target, count } = await bench({
      "on initialize": ({ answer }) => answer({ ...initializeResult, capabilities: {} }),
    });
    expect((await tools.listTools(target)).tools).toEqual([]);
    expect(count("tools/list")).toBe(0);
  });

  it("contain the hints of the tools", async () => {
    const hinted = (name: string, annotations: object) => ({ ...echoTool, name, annotations });
    const listed = [
      hinted("reads", { readOnlyHint: true, destructiveHint: true }),
      hinted("destroys", { destructiveHint: true }),
      hinted("adds", { destructiveHint: false }),
      hinted("silent", {}),
    ];
    const { tools, target } = await bench({ "on tools/list": ({ answer }) => answer({ tools: listed }) });
    expect((await tools.listTools(target)).tools.map((tool) => [tool.name, tool.readOnly, tool.destructive])).toEqual([
      ["reads", true, false],
      ["destroys", false, true],
      ["adds", false, false],
      ["silent", false, false],
    ]);
  });
});

describe("sessions and connections", () => {
  const withSessions = (lose: { next: boolean; always?: boolean }, status = 404): Script => {
    let sessions = 0;
    return {
      "on initialize": ({ response, message }) => {
        response.setHeader("mcp-session-id", `session-${++sessions}`);
        json(response, { jsonrpc: "2.0", id: message.id, result: initializeResult });
      },
      "on tools/call": ({ response, answer, request }) => {
        if (!lose.next && !lose.always) return answer(text(String(request.headers["mcp-session-id"])));
        lose.next = false;
        json(
          response,
          { jsonrpc: "2.0", error: { code: -32000, message: "Bad Request: No valid session ID" } },
          status,
        );
      },
    };
  };

  it.each([404, 400])("a lost session (%i) is replaced, and the call repeated", async (status) => {
    const lose = { next: false };
    const { call, count } = await bench(withSessions(lose, status));
    expect((await call()).content).toEqual([{ type: "text", text: "session-1" }]);
    lose.next = true;
    expect((await call()).content).toEqual([{ type: "text", text: "session-2" }]);
    expect([count("initialize"), count("tools/call")]).toEqual([2, 3]);
  });

  it("the call is repeated only once", async () => {
    const { call, count } = await bench(withSessions({ next: false, always: true }));
    await expect(call()).rejects.toMatchObject({ reason: "unreachable", status: 404, outcome: "not_made" });
    expect([count("initialize"), count("tools/call")]).toEqual([2, 2]);
  });

  it("any other 400 is not a lost session", async () => {
    const { call, count } = await bench({ "on tools/call": ({ response }) => json(response, { error: "no" }, 400) });
    await expect(call()).rejects.toMatchObject({ reason: "refused", status: 400 });
    expect(count("tools/call")).toBe(1);
  });

  it.each<[string, Script]>([
    ["before the answer", { "on tools/call": ({ response }) => void response.destroy() }],
    [
      "in the answer",
      {
        "on tools/call": ({ send, response }) => {
          send({ method: "notifications/message" });
          setTimeout(() => response.destroy(), 50);
        },
      },
    ],
    [
      "by ending the stream without an answer",
      {
        "on tools/call": ({ send, response }) => {
          send({ method: "notifications/message" });
          response.end();
        },
      },
    ],
  ])("a call that is interrupted %s is not repeated", async (_when, script) => {
    const { call, count } = await bench(script);
    await expect(call()).rejects.toMatchObject({ reason: "cut", outcome: "unknown" });
    await sleep(100);
    expect(count("tools/call")).toBe(1);
  });

  it("calls share one connection, whose session ends when idle", async () => {
    const { server, call, count } = await bench(withSessions({ next: false }), { idleMs: 150 });
    for (let n = 0; n < 5; n++) await call();
    expect(count("initialize")).toBe(1);
    await waitFor("the end of the session", () => server.requests.some(({ method }) => method === "DELETE"));
    await call();
    expect(count("initialize")).toBe(2);
  });

  it("an old connection is replaced", async () => {
    const { call, count } = await bench(withSessions({ next: false }), { ageMs: 50 });
    await call();
    await sleep(80);
    await call();
    expect(count("initialize")).toBe(2);
  });

  it("some calls run in parallel, others wait, and too many are refused", async () => {
    let [running, most] = [0, 0];
    const { call } = await bench(
      {
        "on tools/call": ({ answer }) => {
          most = Math.max(most, ++running);
          setTimeout(() => {
            running -= 1;
            answer(text("done"));
          }, 50);
        },
      },
      { parallel: 3, waiting: 8 },
    );
    const ended = await Promise.allSettled(Array.from({ length: 14 }, () => call()));
    expect(most).toBe(3);
    expect(ended.filter(({ status }) => status === "fulfilled")).toHaveLength(11);
    const refused = ended.filter((one) => one.status === "rejected");
    expect(refused.map(({ reason }) => reason)).toEqual(
      Array(3).fill(expect.objectContaining({ reason: "busy", outcome: "not_made" })),
    );
  });

  it("waiting calls of one user do not delay another user", async () => {
    const held: (() => void)[] = [];
    const { call } = await bench(
      { "on tools/call": ({ answer }) => held.push(() => answer(text("done"))) },
      { parallel: 1, waiting: 3 },
    );
    const ended: string[] = [];
    const by = (userId: string) => call({ userId }).then(() => ended.push(userId));
    const all = [by("crowd")];
    await waitFor("the first call", () => held.length === 1);
    all.push(by("crowd"), by("crowd"), by("crowd"), by("other"));
    // The limit is per user.
    await expect(by("crowd")).rejects.toMatchObject({ reason: "busy" });
    for (let n = 0; n < all.length; n++) {
      await waitFor("the next call", () => held.length === 1);
      held.shift()?.();
      await waitFor("its end", () => ended.length === n + 1);
    }
    await Promise.all(all);
    expect(ended).toEqual(["crowd", "crowd", "other", "crowd", "crowd"]);
  });

  it("an aborted call leaves the queue", async () => {
    const held: (() => void)[] = [];
    const { call } = await bench(
      { "on tools/call": ({ answer }) => held.push(() => answer(text("done"))) },
      { parallel: 1 },
    );
    const first = call();
    await waitFor("the first call", () => held.length === 1);
    const caller = new AbortController();
    const second = call({ signal: caller.signal });
    const third = call();
    caller.abort(new Error("gone"));
    await expect(second).rejects.toThrow("gone");
    held.shift()?.();
    await first;
    await waitFor("the third call", () => held.length === 1);
    held.shift()?.();
    await third;
  });

  it("a stream that the server keeps ending is reopened slowly", async () => {
    const { server, call } = await bench({
      onStream: (_request, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" }).end("retry: 0\nid: 1\ndata:\n\n");
      },
      "on tools/call": ({ answer }) => answer(text("done")),
    });
    await call();
    await sleep(1500);
    expect(server.requests.filter(({ method }) => method === "GET").length).toBeLessThanOrEqual(3);
  });

  it("a flood of requests ends the connection", async () => {
    const { server, call } = await bench({
      "on tools/call": ({ send }) => {
        for (let id = 0; id < 5000; id++) send({ id: `ping-${id}`, method: "ping" });
      },
    });
    await expect(call()).rejects.toMatchObject({ reason: "too_large", outcome: "unknown" });
    await sleep(200);
    expect(server.messages.filter(({ id }) => String(id).startsWith("ping-")).length).toBeLessThanOrEqual(100);
  });

  it("requests other than pings are refused", async () => {
    const { server, call } = await bench({
      "on tools/call": ({ send, message, response }) => {
        send({ id: "q1", method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } });
        send({ id: "q2", method: "roots/list" });
        setTimeout(() => {
          send({ id: message.id, result: text("done") });
          response.end();
        }, 200);
      },
    });
    expect((await call()).content).toEqual([{ type: "text", text: "done" }]);
    const answers = server.messages.filter(({ id }) => id === "q1" || id === "q2");
    expect(answers).toHaveLength(2);
    expect(JSON.stringify(answers)).toContain("Method not found");
  });

  it("an error answer of the server is a result", async () => {
    const { call } = await bench();
    expect(await call()).toEqual({
      content: [{ type: "text", text: "Method not found" }],
      structured: undefined,
      isError: true,
    });
  });
});
