import { randomUUID } from "node:crypto";
import { Fault } from "../../kernel/errors.ts";
import type { Net, NetBounds } from "../net/net.ts";
import type { ChatDriver, ChatResult } from "./chat.ts";
import { Interrupted, type ModelDriver, type TokenUsage } from "./driver.ts";
import { finishedToolCall, TextAnswer } from "./text-answer.ts";
import { runAsChat } from "./text-prediction.ts";
import { promptText, type TextRequest } from "./text-request.ts";
import { countTokens } from "./token-count.ts";
import { type UpstreamCall, UpstreamFailure } from "./upstream.ts";
import { type StreamReader, streamUpstream } from "./upstream-stream.ts";

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
  /** The manifest's streamed output field. */
  outputField?: string | undefined;
}

/** A model may think for minutes before its first word. The run's own time limit acts through the abort signal. */
const defaultBounds: NetBounds = {
  totalMs: 6 * 3_600_000,
  headersMs: 300_000,
  idleMs: 120_000,
  maxBytes: 256 * 1024 * 1024,
};

export function createTextBackend(protocol: TextProtocol, options: TextBackendOptions): ModelDriver & ChatDriver {
  const bounds = { ...defaultBounds, ...options.bounds };

  async function answer(request: TextRequest): Promise<ChatResult> {
    let arriving = new TextAnswer(request);
    const send = async (): Promise<void> => {
      const written = protocol.write(request);
      const call = { ...written, key: protocol.key, signal: request.signal, bounds };
      try {
        await streamUpstream(options.net, call, () => {
          arriving = new TextAnswer(request);
          return protocol.read(arriving, request);
        });
      } catch (error) {
        const refusal = error instanceof Fault ? error.cause : undefined;
        if (!protocol.adapt || !(refusal instanceof UpstreamFailure)) throw error;
        protocol.adapt(refusal, request);
        // Another call may have learned the same while this one was under way: what counts is how it is written now.
        if (protocol.write(request).body === written.body) throw error;
        await send();
      }
    };
    try {
      await send();
    } catch (error) {
      if (request.signal.aborted) throw new Interrupted(await usageOf(arriving, request), request.signal.reason);
      throw error;
    }
    return {
      text: arriving.text,
      reasoning: arriving.reasoning,
      toolCalls: arriving.toolCalls.map(finishedToolCall),
      ...(arriving.opaque !== undefined && { opaque: arriving.opaque }),
      usage: await usageOf(arriving, request),
      stop: arriving.stop,
    };
  }

  return {
    chat: (call) => answer({ ...call, id: randomUUID(), repeats: true }),
    run: runAsChat(answer, options.outputField),
    enforcesSchema: protocol.enforcesSchema,
  };
}

async function usageOf(answer: TextAnswer, request: TextRequest): Promise<TokenUsage> {
  const { usage } = answer;
  const estimated = usage.inputTokens === undefined || usage.outputTokens === undefined;
  const inputTokens = usage.inputTokens ?? (await countTokens(promptText(request)));
  return {
    inputTokens,
    outputTokens: usage.outputTokens ?? (await countTokens(answer.produced.trim())),
    ...(usage.cachedTokens !== undefined && { cachedTokens: Math.min(usage.cachedTokens, inputTokens) }),
    ...(estimated && { estimated }),
    ...(usage.googleUsage && { googleUsage: usage.googleUsage }),
  };
}
