import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { nativeChat, openAiChatDialect } from "../test-upstreams/openai-chat.dialect.ts";
import { openTextBench, type TextBench } from "../test-upstreams/text-bench.ts";
import { answering, refusing } from "../test-upstreams/text-upstream.ts";
import { createOpenAiChat } from "./chat.ts";

const usage = { input: 3, output: 2 };

describe("native requests to servers with OpenAI's protocol", () => {
  let bench: TextBench;
  beforeAll(async () => {
    bench = await openTextBench(openAiChatDialect, createOpenAiChat);
  });
  afterAll(() => bench.close());

  const native = (body: object, stream?: boolean) => bench.chat(nativeChat(body, stream));
  const limitsOf = (n: number) => {
    const { max_tokens, max_completion_tokens } = bench.sent(n);
    return { max_tokens, max_completion_tokens };
  };

  it("keep the client's options of the stream", async () => {
    bench.play(answering({ text: ["ok"], usage }));
    await native({ stream_options: { include_usage: false, include_obfuscation: false } });
    expect(bench.sent().stream_options).toEqual({ include_usage: true, include_obfuscation: false });
  });

  it("keep the name of the client's limit", async () => {
    bench.play(answering({ text: ["ok"], usage }));
    await native({ max_completion_tokens: 500 });
    expect(limitsOf(0)).toEqual({ max_completion_tokens: 100 });
  });

  it("learn the name of the limit and that usage cannot be asked for, and nothing else", async () => {
    bench.play(
      refusing(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
      refusing(400, "Unrecognized request argument: stream_options"),
      answering({ text: ["ok"] }),
    );
    const result = await native({ max_tokens: 7, response_format: { type: "json_object" }, reasoning_effort: "low" });
    expect(result).toMatchObject({ text: "ok", usage: { estimated: true } });
    expect([0, 1, 2].map(limitsOf)).toEqual([
      { max_tokens: 7 },
      { max_completion_tokens: 7 },
      { max_completion_tokens: 7 },
    ]);
    expect(bench.sent(2)).not.toHaveProperty("stream_options");
    expect(bench.sent(2)).toMatchObject({ response_format: { type: "json_object" }, reasoning_effort: "low" });
  });

  it("are refused as the server refuses them", async () => {
    bench.play(refusing(400, "response_format is not supported"));
    await expect(native({ response_format: {} })).rejects.toMatchObject({ type: "downstream_service_error" });
    expect(bench.upstream.requests).toHaveLength(1);
  });

  it("retry an error in a body with status 200", async () => {
    const busy = JSON.stringify({ error: { message: "busy", code: 503 } });
    bench.play(
      ({ response }) => void response.writeHead(200, { "content-type": "application/json" }).end(busy),
      answering({ text: ["ok"], usage }),
    );
    expect((await native({}, false)).text).toBe("ok");
  });
});
