import { describe, expect, it } from "vitest";
import type { ChatAnswered } from "../doors/chat-door.ts";
import { MessageEvents } from "./message-events.ts";
import type { ShownThoughts } from "./read-options.ts";

const begun = { id: "pred_1", modelName: "a/b", createdAt: new Date(0), inputTokens: 7 };
const end: ChatAnswered = {
  ...begun,
  reply: { text: "", reasoning: "", toolCalls: [], stop: "end" },
  usage: { inputTokens: 9, outputTokens: 3, cachedTokens: 4, cacheWriteTokens: 2 },
};

interface Written {
  type: string;
  index?: number;
  content_block?: { type: string; id?: string };
  delta?: { type: string; text?: string; thinking?: string; partial_json?: string };
}

/** The events after checking their names. */
function parsed(text: string): Written[] {
  const blocks = text.split("\n\n");
  expect(blocks.pop()).toBe("");
  return blocks.map((block) => {
    const [, name, data] = /^event: (\w+)\ndata: (.*)$/.exec(block) ?? [];
    const event = JSON.parse(data ?? "") as Written;
    expect(event.type).toBe(name);
    return event;
  });
}

/** The content after checking that blocks are written strictly one after another. */
function contentOf(events: readonly Written[]): string[] {
  const content: string[] = [];
  let open: number | undefined;
  for (const { type, index, content_block: block, delta } of events) {
    if (type === "content_block_start") {
      expect([open, index]).toEqual([undefined, content.length]);
      open = index;
      content.push(`${block?.type}${block?.id ? ` ${block.id}` : ""}: `);
    } else if (type === "content_block_delta") {
      expect(index).toBe(open);
      content[content.length - 1] += delta?.text ?? delta?.thinking ?? delta?.partial_json ?? `<${delta?.type}>`;
    } else if (type === "content_block_stop") {
      expect(index).toBe(open);
      open = undefined;
    }
  }
  expect(open).toBe(undefined);
  return content;
}

function written(write: (events: MessageEvents) => string[], shown: ShownThoughts = "all") {
  const events = new MessageEvents(begun, shown);
  const pieces = write(events);
  const all = parsed(pieces.join("") + events.end(end));
  return { pieces, all, content: contentOf(all) };
}

const call = (index: number, piece: string) => ({ index, id: `t${index}`, name: "f", arguments: piece });

describe("events of a message", () => {
  it("begin and end once, with complete usage", () => {
    const { all } = written((events) => [events.text("a"), events.text("b")]);
    expect(all.map(({ type }) => type)).toEqual([
      "message_start",
      "ping",
      "content_block_start",
      "content_block_delta",
      "content_block_delta",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ]);
    expect(all[0]).toMatchObject({
      message: {
        id: "msg_1",
        model: "a/b",
        content: [],
        stop_reason: null,
        usage: { input_tokens: 7, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 },
      },
    });
    expect(all.at(-2)).toMatchObject({
      delta: { stop_reason: "end_turn", stop_sequence: null },
      usage: { input_tokens: 3, cache_creation_input_tokens: 2, cache_read_input_tokens: 4, output_tokens: 3 },
    });
  });

  it("of an empty answer", () => {
    expect(written(() => []).all.map(({ type }) => type)).toEqual([
      "message_start",
      "ping",
      "message_delta",
      "message_stop",
    ]);
  });

  it("keep thoughts and text in blocks of their own, and sign each thought", () => {
    const { content } = written((events) => [
      events.reasoning("hm"),
      events.reasoning("."),
      events.text("one"),
      events.reasoning("again"),
      events.text("two"),
    ]);
    expect(content).toEqual([
      "thinking: hm.<signature_delta>",
      "text: one",
      "thinking: again<signature_delta>",
      "text: two",
    ]);
  });

  it.each<[shown: ShownThoughts, content: string[]]>([
    ["none", ["text: one"]],
    ["omitted", ["thinking: <signature_delta>", "text: one"]],
  ])("with shown thoughts: %s", (shown, content) => {
    expect(written((events) => [events.reasoning("hm"), events.text("one")], shown).content).toEqual(content);
  });

  it("pass pieces of a call on as they arrive", () => {
    const { pieces, content } = written((events) => [
      events.toolCall(call(0, "")),
      events.toolCall(call(0, '{"a":')),
      events.toolCall(call(0, '"}{\\""}')),
      events.toolCall(call(1, "")),
      events.toolCall(call(1, "{}")),
    ]);
    expect(content).toEqual(['tool_use t0: {"a":"}{\\""}', "tool_use t1: {}"]);
    expect(pieces.every((piece) => piece !== "")).toBe(true);
  });

  it("keep all pieces of calls that arrive mixed", () => {
    const { content } = written((events) => [
      events.toolCall(call(0, "")),
      events.toolCall(call(1, "")),
      events.toolCall(call(0, '{"a"')),
      events.toolCall(call(1, '{"b"')),
      events.text("meanwhile"),
      events.toolCall(call(0, ":1}")),
      events.toolCall(call(1, ":2}")),
      events.toolCall(call(2, "")),
    ]);
    expect(content).toEqual(['tool_use t0: {"a":1}', 'tool_use t1: {"b":2}', "text: meanwhile", "tool_use t2: "]);
  });

  it("keep calls whose arguments come last, or are cut", () => {
    const { content } = written((events) => [
      events.toolCall(call(0, "")),
      events.toolCall(call(1, "")),
      events.toolCall(call(1, '{"b":2}')),
      events.toolCall(call(0, "{}")),
      events.toolCall(call(2, '{"c":')),
    ]);
    expect(content).toEqual(["tool_use t0: {}", 'tool_use t1: {"b":2}', 'tool_use t2: {"c":']);
  });

  it("of a complete answer contain the blocks of the stored one, signatures included", () => {
    const content = [
      { type: "thinking", thinking: "hm", signature: "signed" },
      { type: "redacted_thinking", data: "x" },
      { type: "text", text: "one" },
      { type: "tool_use", id: "t0", name: "f", input: { a: 1 } },
    ];
    const reply = { ...end.reply, opaque: { protocol: "anthropic", content } };
    const all = parsed(new MessageEvents(begun, "all").whole({ ...end, reply }));
    expect(contentOf(all)).toEqual([
      "thinking: hm<signature_delta>",
      "redacted_thinking: ",
      "text: one",
      'tool_use t0: {"a":1}',
    ]);
    expect(all).toContainEqual(expect.objectContaining({ delta: { type: "signature_delta", signature: "signed" } }));
    expect(all[0]).toMatchObject({
      message: { usage: { input_tokens: 3, cache_read_input_tokens: 4, output_tokens: 0 } },
    });
  });
});

describe("native events", () => {
  const events = () => new MessageEvents(begun, "all");

  it("are passed on as they are, except for the model's name", () => {
    const relay = events();
    const start = `{"type":"message_start","message":{"id":"m","model":"real","new":{"x":[1]}},"y":2}`;
    expect(relay.native({ name: "message_start", data: start })).toBe(
      `event: message_start\ndata: ${start.replace("real", "a/b")}\n\n`,
    );
    const odd = `{ "type":"new_event",  "model":"real" }`;
    expect(relay.native({ name: "new_event", data: odd })).toBe(`event: new_event\ndata: ${odd}\n\n`);
    expect(relay.end(end)).toBe("");
  });

  it("get the name that some servers leave out, and stay whole over several lines", () => {
    expect(events().native({ name: undefined, data: `{"type":"ping"}` })).toBe(
      `event: ping\ndata: {"type":"ping"}\n\n`,
    );
    expect(events().native({ name: "ping", data: `{"type":\n"ping"}` })).toBe(
      `event: ping\ndata: {"type":\ndata: "ping"}\n\n`,
    );
    expect(events().native({ name: undefined, data: "[DONE]" })).toBe("");
  });
});
