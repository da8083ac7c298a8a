import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** The behaviour of an upstream, sent as the prompt's text. */
export interface Script {
  /**
   * ok: answers; fail: a status of 500; busy: a status of 429; garbage: an answer that is not JSON; cut: breaks the
   * connection in the middle; hang: never answers.
   */
  end: "ok" | "fail" | "busy" | "garbage" | "cut" | "hang";
  /** How long it takes. */
  ms: number;
  /** Number of words in a chat answer. */
  words: number;
  /** The reported usage. */
  inputTokens: number;
  outputTokens: number;
  /** Makes prompts different. */
  mark: string;
}

export const promptOf = (script: Script): string =>
  [script.end, script.ms, script.words, script.inputTokens, script.outputTokens, script.mark].join(" ");

export function scriptOf(prompt: string): Script {
  const [end = "ok", ms = "0", words = "0", inputTokens = "0", outputTokens = "0", mark = ""] = prompt.split(" ");
  return {
    end: end as Script["end"],
    ms: Number(ms),
    words: Number(words),
    inputTokens: Number(inputTokens),
    outputTokens: Number(outputTokens),
    mark,
  };
}

export interface SeenPrediction {
  calls: number;
  /** Answered completely, as far as the upstream knows: it would charge for this. */
  completed: number;
}

export interface Upstreams {
  /** A Cog server. */
  cogUrl: string;
  /** An OpenAI-compatible chat server. */
  chatUrl: string;
  readonly open: number;
  /** The most calls open at one time, by the first word of their mark. */
  most(group: string): number;
  /** By prediction id. */
  seen: Map<string, SeenPrediction>;
  /** Called when a call arrives, before any answer. */
  onCall: ((predictionId: string, script: Script) => void) | undefined;
  /** The oldest hanging call of this prediction continues as if its script were `ok`. */
  release(predictionId: string): void;
  close(): Promise<void>;
}

/** Both kinds of upstream in this process; each call follows the script in its prompt. */
export async function startUpstreams(): Promise<Upstreams> {
  const seen = new Map<string, SeenPrediction>();
  const hanging = new Map<string, Set<() => void>>();
  const groups = new Map<string, { open: number; most: number }>();
  let open = 0;

  function arrive(id: string, script: Script, response: ServerResponse): { entry: SeenPrediction; gone: AbortSignal } {
    const entry = seen.get(id) ?? { calls: 0, completed: 0 };
    seen.set(id, entry);
    entry.calls++;
    const group = groups.get(groupOf(script)) ?? { open: 0, most: 0 };
    groups.set(groupOf(script), group);
    open++;
    group.open++;
    group.most = Math.max(group.most, group.open);
    const gone = new AbortController();
    response.once("close", () => {
      open--;
      group.open--;
      gone.abort();
    });
    upstreams.onCall?.(id, script);
    return { entry, gone: gone.signal };
  }

  /** Call in the tick in which the call arrived: an open call may be released at once. */
  function untilReleased(id: string, gone: AbortSignal): Promise<void> {
    const released = new Promise<void>((resolve, reject) => {
      const waiting = hanging.get(id) ?? new Set();
      hanging.set(id, waiting);
      waiting.add(resolve);
      gone.addEventListener("abort", () => {
        waiting.delete(resolve);
        reject(gone.reason);
      });
    });
    // Awaited later, or never if the call breaks off first.
    released.catch(() => {});
    return released;
  }

  async function cog(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { id, input } = JSON.parse(await textOf(request));
    const script = scriptOf(input.prompt);
    const { entry, gone } = arrive(id, script, response);
    const released = script.end === "hang" ? untilReleased(id, gone) : undefined;
    await sleep(script.ms, undefined, { signal: gone });
    await released;
    if (script.end === "cut") return void response.destroy();
    if (isRefusal(script.end)) return refuse(script.end, response);
    response.once("finish", () => entry.completed++);
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ status: "succeeded", output: `made of ${script.mark}` }));
  }

  async function chat(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const id = String(request.headers["idempotency-key"]);
    const { messages, stream } = JSON.parse(await textOf(request));
    const script = scriptOf(messages.at(-1).content);
    const { entry, gone } = arrive(id, script, response);
    const released = script.end === "hang" ? untilReleased(id, gone) : undefined;
    if (isRefusal(script.end)) return refuse(script.end, response);
    const usage = { prompt_tokens: script.inputTokens, completion_tokens: script.outputTokens };
    if (stream !== true) {
      await sleep(script.ms, undefined, { signal: gone });
      await released;
      if (script.end === "cut") return void response.destroy();
      response.once("finish", () => entry.completed++);
      const message = { role: "assistant", content: "word ".repeat(script.words) };
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: "stop" }], usage }));
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    const say = (event: object) => response.write(`data: ${JSON.stringify(event)}\n\n`);
    for (let word = 0; word < script.words; word++) {
      say({ choices: [{ index: 0, delta: { content: `word${word} ` } }] });
      if (word === Math.floor(script.words / 2)) {
        if (script.end === "cut") return void response.destroy();
        await released;
      }
      await sleep(script.ms / script.words, undefined, { signal: gone });
    }
    say({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
    say({ choices: [], usage });
    response.once("finish", () => entry.completed++);
    response.end("data: [DONE]\n\n");
  }

  const server = createServer((request, response) => {
    const answer = request.url?.startsWith("/cog/")
      ? request.url.endsWith("/cancel")
        ? async () => void response.writeHead(200).end("{}")
        : cog
      : chat;
    // Rejects when the caller disconnects.
    answer(request, response).catch(() => response.destroy());
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", 1024, resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const upstreams: Upstreams = {
    cogUrl: `${base}/cog`,
    chatUrl: `${base}/chat`,
    get open() {
      return open;
    },
    most: (group) => groups.get(group)?.most ?? 0,
    seen,
    onCall: undefined,
    release(id) {
      const [oldest] = hanging.get(id) ?? [];
      if (!oldest) return;
      hanging.get(id)?.delete(oldest);
      oldest();
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return upstreams;
}

type Refusal = "fail" | "busy" | "garbage";

const isRefusal = (end: Script["end"]): end is Refusal => end === "fail" || end === "busy" || end === "garbage";

function refuse(end: Refusal, response: ServerResponse): void {
  if (end === "fail") response.writeHead(500).end("{}");
  else if (end === "busy") response.writeHead(429, { "retry-after": "1" }).end("{}");
  else response.writeHead(200, { "content-type": "application/json" }).end("\u0000{not json");
}

const groupOf = (script: Script): string => script.mark.split("-", 1)[0] ?? "";

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk;
  return text;
}
