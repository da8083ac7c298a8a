import { randomUUID } from "node:crypto";
import { Fault } from "../../../kernel/errors.ts";
import { isRecord } from "../../../kernel/is-record.ts";
import { usualAnswerTokens } from "../../../kernel/money.ts";
import { deepestBody, isWithinDepth } from "../../../kernel/storable-issues.ts";
import type { Net, NetBounds } from "../../net/net.ts";
import { type ChatCall, type ChatDriver, type ChatResult, type Protocol, promptText } from "../chat.ts";
import { cacheUse, Interrupted, type ModelDriver, type TokenUsage } from "../driver.ts";
import type { Mask } from "../mask.ts";
import { nativeSize } from "../native-size.ts";
import { countTokens, estimateTokens } from "../token-count.ts";
import { broken, requestJsonOnce, type UpstreamCall, UpstreamFailure, withRetries } from "../upstream.ts";
import { finishedToolCall, TextAnswer } from "./answer.ts";
import { runAsChat } from "./prediction.ts";
import { Relay, readAsItIs } from "./relay.ts";
import type { TextRequest } from "./request.ts";
import { type StreamReader, streamUpstream } from "./stream.ts";

/** An upstream protocol: how to write a request and how to read its stream. */
export interface TextProtocol {
  /** Set if native requests of this protocol are accepted: they are in `native` of a request. */
  readonly native?: Protocol;
  write(request: TextRequest): Pick<UpstreamCall, "url" | "headers" | "explain"> & { body: string };
  read(answer: TextAnswer, request: TextRequest): StreamReader;
  /** For servers that refuse a part of the protocol: records the refusal, so that the next `write` differs. */
  adapt?(failure: UpstreamFailure, request: TextRequest, sentBody: string): void;
  readonly enforcesSchema: boolean;
  /** True if an answer can be bound to JSON without a schema. */
  readonly hasJsonMode?: boolean;
}

export interface TextBackendOptions {
  net: Net;
  model: string;
  key?: string | undefined;
  mask: Mask;
  bounds?: Partial<NetBounds> | undefined;
  /** Of one call, 3 by default. */
  tries?: number | undefined;
}

/** Longer than any time limit of a manifest, which ends a call through its abort signal. */
const longestRunMs = 24 * 3_600_000 + 60_000;
const defaultBounds: NetBounds = {
  totalMs: longestRunMs,
  headersMs: longestRunMs,
  idleMs: longestRunMs,
  maxBytes: 256 * 1024 * 1024,
};

/** An answer that is not streamed is held in memory as a whole. */
const longestBody = 32 * 1024 * 1024;
const anyObject = { type: "object" };

/** An upstream that runs its own tools may pause between them. */
const mostPauses = 16;

export function createTextBackend(protocol: TextProtocol, options: TextBackendOptions): ModelDriver & ChatDriver {
  const bounds = { ...defaultBounds, ...options.bounds };

  async function answer(given: TextRequest): Promise<ChatResult> {
    const request = withJsonSchema(given);
    const paused: Exchange[] = [];
    let last: Exchange = { request, answer: new TextAnswer(request) };
    try {
      for (;;) {
        const pausedWith = await send(last);
        if (pausedWith === undefined || request.native) break;
        paused.push(last);
        // A run continues in a new call, which has its own hold and charge.
        const left = request.repeats ? 0 : await tokensLeft(request, paused);
        if (left <= 0) {
          paused.pop();
          last.answer.cutByLength = true;
          break;
        }
        if (paused.length > mostPauses) throw broken(new Error("The upstream paused too often"));
        const soFar = { role: "assistant", text: last.answer.text, toolCalls: [], opaque: pausedWith } as const;
        last = {
          request: { ...last.request, messages: [...last.request.messages, soFar], maxTokens: left },
          answer: new TextAnswer(request),
        };
      }
    } catch (error) {
      if (request.signal.aborted)
        throw new Interrupted(() => usageOf([...paused, last], estimateTokens), request.signal.reason);
      throw error;
    }
    const all = [...paused, last];
    const { toolCalls, stop, stopSequence } = last.answer;
    const isTooDeep = !isWithinDepth(last.answer.opaque, deepestOpaque);
    if (isTooDeep && !request.native) throw nestedTooDeeply();
    // Repeats of a streamed native answer need its signatures. One that is not streamed has its own body.
    const opaque = last.body || isTooDeep ? undefined : last.answer.opaque;
    return {
      text: all.map((exchange) => exchange.answer.text).join(""),
      reasoning: all.map((exchange) => exchange.answer.reasoning).join(""),
      toolCalls: toolCalls.map(finishedToolCall),
      ...(opaque !== undefined && paused.length === 0 && { opaque }),
      usage: await usageOf(all),
      stop,
      ...(stopSequence && { stopSequence }),
      ...(last.body && { native: last.body }),
    };
  }

  function withJsonSchema(request: TextRequest): TextRequest {
    const needsSchema = request.responseFormat === "json" && !request.responseSchema && !protocol.hasJsonMode;
    return needsSchema ? { ...request, responseSchema: anyObject } : request;
  }

  /** If the upstream paused, resolves with what it must get back to continue. */
  async function send(exchange: Exchange): Promise<unknown> {
    const { request } = exchange;
    const written = protocol.write(request);
    const call = { ...written, mask: options.mask, signal: request.signal, bounds, tries: options.tries };
    const { native, onBegun } = request;
    const read = native ? readAsItIs(request) : request;
    let reader: StreamReader | undefined;
    function open(): StreamReader {
      exchange.answer = new TextAnswer(read);
      const opened = protocol.read(exchange.answer, read);
      reader = native?.stream && native.onEvent ? new Relay(opened, native.onEvent.bind(native), onBegun) : opened;
      return reader;
    }
    try {
      if (native?.stream === false) exchange.body = await readWhole(options.net, { ...call, onBegun }, open);
      else await streamUpstream(options.net, call, open);
      if (!isWithinDepth(reader?.pausedWith, deepestOpaque)) throw nestedTooDeeply();
      return reader?.pausedWith;
    } catch (error) {
      const refusal = error instanceof Fault ? error.cause : undefined;
      if (!protocol.adapt || reader?.delivered || !(refusal instanceof UpstreamFailure)) throw error;
      protocol.adapt(refusal, request, written.body);
      // A concurrent call may have recorded the same refusal, so compare the requests instead of the adaptations.
      if (protocol.write(request).body === written.body) throw error;
      return send(exchange);
    }
  }

  function chat({ native, ...call }: ChatCall): Promise<ChatResult> {
    const isSpoken = native !== undefined && native.protocol === protocol.native;
    return answer({ ...call, ...(isSpoken && { native }), id: randomUUID() });
  }

  return {
    chat,
    run: runAsChat(answer),
    enforcesSchema: protocol.enforcesSchema,
    ...(protocol.native && { protocol: protocol.native }),
  };
}

async function readWhole(net: Net, call: UpstreamCall, open: () => StreamReader): Promise<Record<string, unknown>> {
  const bounded = { ...call, bounds: { ...call.bounds, maxBytes: longestBody } };
  return withRetries(call, async () => {
    const { json } = await requestJsonOnce(net, bounded);
    if (!isRecord(json)) throw broken(new Error("The upstream did not answer with a JSON object"));
    if (!isWithinDepth(json, deepestOpaque)) throw nestedTooDeeply();
    const reader = open();
    reader.onWhole?.(json);
    if (!reader.complete) throw broken(new Error("The upstream's answer is incomplete"));
    return json;
  });
}

/** Tool arguments plus some levels of the protocol around them. */
const deepestOpaque = deepestBody + 10;

function nestedTooDeeply(): Fault {
  return broken(new Error("The upstream's answer is nested too deeply to be sent back"));
}

async function tokensLeft({ maxTokens = usualAnswerTokens }: TextRequest, all: readonly Exchange[]): Promise<number> {
  return maxTokens - (await usageOf(all)).outputTokens;
}

/** Most answers need only one exchange with the upstream. */
interface Exchange {
  request: TextRequest;
  answer: TextAnswer;
  /** Of an answer that is not streamed. */
  body?: Record<string, unknown>;
}

async function usageOf(all: readonly Exchange[], count = countTokens): Promise<TokenUsage> {
  const [first, ...others] = await Promise.all(all.map((exchange) => usageOfOne(exchange, count)));
  return others.reduce(addUsage, first ?? { inputTokens: 0, outputTokens: 0 });
}

async function usageOfOne({ answer, request }: Exchange, count: typeof countTokens): Promise<TokenUsage> {
  const { usage } = answer;
  const estimated = usage.inputTokens === undefined || usage.outputTokens === undefined;
  const inputTokens = usage.inputTokens ?? (await count(inputText(request)));
  return {
    inputTokens,
    outputTokens: usage.outputTokens ?? (await count(answer.produced.trim())),
    ...cacheUse(usage, inputTokens),
    ...(estimated && { estimated }),
    ...(usage.googleUsage && { googleUsage: usage.googleUsage }),
  };
}

/** The messages of a native request are only in its body. */
function inputText(request: TextRequest): string {
  return request.native ? nativeSize(request.native.body).text : promptText(request);
}

/** The upstream charges every exchange. */
function addUsage(sum: TokenUsage, one: TokenUsage): TokenUsage {
  const cachedTokens = (sum.cachedTokens ?? 0) + (one.cachedTokens ?? 0);
  const cacheWriteTokens = (sum.cacheWriteTokens ?? 0) + (one.cacheWriteTokens ?? 0);
  return {
    inputTokens: sum.inputTokens + one.inputTokens,
    outputTokens: sum.outputTokens + one.outputTokens,
    ...(cachedTokens > 0 && { cachedTokens }),
    ...(cacheWriteTokens > 0 && { cacheWriteTokens }),
    ...((sum.estimated || one.estimated) && { estimated: true }),
    ...(one.googleUsage && { googleUsage: one.googleUsage }),
  };
}
