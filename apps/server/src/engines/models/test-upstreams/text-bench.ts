import { Readable } from "node:stream";
import { createNet } from "../../net/create-net.ts";
import type { ChatCall, ChatDriver } from "../chat.ts";
import type { FileInput, InputValue, ModelDriver } from "../driver.ts";
import type { CreateTextBackend } from "../text/backend.contract.ts";
import { keyed } from "./keyed.ts";
import { type Behaviour, type Dialect, TextUpstream } from "./text-upstream.ts";

/** One driver with one scripted upstream, for tests of a single protocol. */
export async function openTextBench(dialect: Dialect, create: CreateTextBackend) {
  const net = createNet({ allowPrivateNetwork: true });
  const upstream = new TextUpstream(dialect);
  await upstream.start();
  let driver: ModelDriver & ChatDriver;
  return {
    upstream,
    /** A new driver, because drivers remember what their server refuses. */
    play(...behaviours: Behaviour[]) {
      upstream.play(...behaviours);
      driver = create({ net, url: `${upstream.url}/`, model: "m-1", ...keyed("sk-secret-4711") });
    },
    chat: (call: Partial<ChatCall> = {}) =>
      driver.chat({
        messages: [{ role: "user", content: "Hello" }],
        signal: new AbortController().signal,
        ...call,
      }),
    run: (input: Record<string, InputValue>) =>
      driver.run({ predictionId: "pred_1", input, signal: new AbortController().signal, onFragment: () => {} }),
    sent: (n = 0) => upstream.requests[n]?.body ?? {},
    async close() {
      await net.close();
      await upstream.stop();
    },
  };
}

export type TextBench = Awaited<ReturnType<typeof openTextBench>>;

export function picture(bytes = "picture"): FileInput {
  return {
    kind: "file",
    contentType: "image/png",
    size: bytes.length,
    filename: undefined,
    open: async () => Readable.from([Buffer.from(bytes)]),
  };
}

/** Streams the given lines unchanged. */
export function streaming(...events: (string | Record<string, unknown>)[]): Behaviour {
  return ({ response }) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const event of events) {
      response.write(`data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`);
    }
    response.end();
  };
}
