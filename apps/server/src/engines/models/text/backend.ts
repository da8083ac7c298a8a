import { randomUUID } from "node:crypto";
import { Fault } from "../../../kernel/errors.ts";
import { usualAnswerTokens } from "../../../kernel/money.ts";
import { deepestBody, isWithinDepth } from "../../../kernel/storable-issues.ts";
import type { Net, NetBounds } from "../../net/net.ts";
import type { ChatDriver, ChatResult } from "../chat.ts";
import { cacheUse, Interrupted, type ModelDriver, type TokenUsage } from "../driver.ts";
import { countTokens, estimateTokens } from "../token-count.ts";
import { broken, type UpstreamCall, UpstreamFailure } from "../upstream.ts";
import { finishedToolCall, TextAnswer } from "./answer.ts";
import { runAsChat } from "./prediction.ts";
import { promptText, type TextRequest } from "./request.ts";
import { type StreamReader, streamUpstream } from "./stream.ts";

/** One upstream protocol: how a call is written and how its stream is read. Holds the address and the key. */
export interface TextProtocol {
  write(request: TextRequest): Pick<UpstreamCall, "url" | "headers" | "body" | "explain">;
  read(answer: TextAnswer, request: TextRequest): StreamReader;
  /** Where a server refuses what others need: what is learned from it changes the next `write`, or it has failed. */
  adapt?(failure: UpstreamFailure, request: TextRequest): void;
  readonly key: string | undefined;
  readonly enforcesSchema: boolean;
}

export interface TextBackendOptions {
  net: Net;
  model: string;
  key?: string | undefined;
  bounds?: Partial<NetBounds> | undefined;
}

/**
 * A model may think for as long as its manifest lets it, before its first word and between two: the run's own time limit
 * decides, through the abort signal. These are only what no manifest can exceed.
 */
const longestRunMs = 24 * 3_600_000 + 60_000;
const defaultBounds: NetBounds = {
  totalMs: longestRunMs,
  headersMs: longestRunMs,
  idleMs: longestRunMs,
  maxBytes: 256 * 1024 * 1024,
};

/** An upstream that runs tools of its own pauses between many of them, but not for ever. */
const mostPauses = 16;

export function createTextBackend(protocol: TextProtocol, options: TextBackendOptions): ModelDriver & ChatDriver {
  const bounds = { ...defaultBounds, ...options.bounds };

  async function answer(request: TextRequest): Promise<ChatResult> {
    /** What was said before each pause, and with it what was asked. */
    const paused: Said[] = [];
    let last: Said = { request, answer: new TextAnswer(request) };
    try {
      for (;;) {
        const pausedWith = await send(last);
        if (pausedWith === undefined) break;
        paused.push(last);
        // A run goes on with it in a call of its own, which is set aside and charged as one.
        const left = request.repeats ? 0 : await tokensLeft(request, paused);
        if (left <= 0) {
          paused.pop();
          last.answer.cutByLength = true;
          break;
        }
        if (paused.length > mostPauses) throw broken(new Error("The upstream does not come to an end"));
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
    const { toolCalls, opaque, stop } = last.answer;
    if (!isWithinDepth(opaque, deepestOpaque)) throw nestedTooDeeply();
    return {
      text: all.map((said) => said.answer.text).join(""),
      reasoning: all.map((said) => said.answer.reasoning).join(""),
      toolCalls: toolCalls.map(finishedToolCall),
      ...(opaque !== undefined && paused.length === 0 && { opaque }),
      usage: await usageOf(all),
      stop,
    };
  }

  /** Answers what the upstream must get back to go on, where it only paused. */
  async function send(said: Said): Promise<unknown> {
    const { request } = said;
    const written = protocol.write(request);
    const call = { ...written, key: protocol.key, signal: request.signal, bounds };
    let reader: StreamReader | undefined;
    try {
      await streamUpstream(options.net, call, () => {
        said.answer = new TextAnswer(request);
        reader = protocol.read(said.answer, request);
        return reader;
      });
      if (!isWithinDepth(reader?.pausedWith, deepestOpaque)) throw nestedTooDeeply();
      return reader?.pausedWith;
    } catch (error) {
      const refusal = error instanceof Fault ? error.cause : undefined;
      if (!protocol.adapt || !(refusal instanceof UpstreamFailure)) throw error;
      protocol.adapt(refusal, request);
      // Another call may have learned the same while this one was under way: what counts is how it is written now.
      if (protocol.write(request).body === written.body) throw error;
      return send(said);
    }
  }

  return {
    chat: (call) => answer({ ...call, id: randomUUID(), repeats: true }),
    run: runAsChat(answer),
    enforcesSchema: protocol.enforcesSchema,
  };
}

/** Of what must be sent back unchanged: the arguments of a call, and some levels of the protocol around them. */
const deepestOpaque = deepestBody + 10;

function nestedTooDeeply(): Fault {
  return broken(new Error("The upstream's answer is nested too deeply to be sent back"));
}

async function tokensLeft({ maxTokens = usualAnswerTokens }: TextRequest, said: readonly Said[]): Promise<number> {
  return maxTokens - (await usageOf(said)).outputTokens;
}

/** One exchange with the upstream: most answers are one. */
interface Said {
  request: TextRequest;
  answer: TextAnswer;
}

async function usageOf(all: readonly Said[], count = countTokens): Promise<TokenUsage> {
  const [first, ...others] = await Promise.all(all.map((said) => usageOfOne(said, count)));
  return others.reduce(addUsage, first ?? { inputTokens: 0, outputTokens: 0 });
}

async function usageOfOne({ answer, request }: Said, count: typeof countTokens): Promise<TokenUsage> {
  const { usage } = answer;
  const estimated = usage.inputTokens === undefined || usage.outputTokens === undefined;
  const inputTokens = usage.inputTokens ?? (await count(promptText(request)));
  return {
    inputTokens,
    outputTokens: usage.outputTokens ?? (await count(answer.produced.trim())),
    ...cacheUse(usage, inputTokens),
    ...(estimated && { estimated }),
    ...(usage.googleUsage && { googleUsage: usage.googleUsage }),
  };
}

/** Every exchange is charged by the upstream, so all of them are counted. */
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
