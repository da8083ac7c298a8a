import { newId } from "@gantry/wire";
import type { ChatCall, ChatMessage } from "../../../engines/models/chat.ts";
import type { ChatEnd } from "../../predictions/index.ts";
import { usageOf } from "../call-usage.ts";
import type { RunHistory, Step } from "../run.ts";
import type { NewEvent, RunChange, SummaryRange } from "../run-writer.ts";
import { type EarlierTurns, visibleTurns } from "../threads/earlier-turns.rules.ts";
import { readEarlierTurns } from "../threads/earlier-turns.ts";
import { currentModel, windowOf } from "./access.ts";
import { askModel, type MadeCall, messageOf, TokenEstimate } from "./ask-model.ts";
import type { ModelCallDeps } from "./call-model.ts";
import { doneWith, faultsOf, isFormattedAfter, lastStep, outputOf } from "./check-answer.ts";
import { shorten, shortenedEvent, summaryCall, summaryStep } from "./compress.ts";
import { type Conversation, messagesOf } from "./conversation.rules.ts";
import { cutTooOften, isCutText, joinedText, wholeCalls } from "./cut-answers.rules.ts";
import { finishCalls } from "./finish-calls.ts";
import { checkLimits } from "./limits.rules.ts";
import { type NextCall, nextCall } from "./next-call.rules.ts";
import { type ContextDeps, openContext, type RunContext } from "./open-context.ts";
import { prepareCalls } from "./prepare-calls.ts";
import { lengthLimit } from "./prompts.rules.ts";
import type { Recalled } from "./recall-calls.ts";
import type { RunSession } from "./session.ts";
import { type ShownStep, shownStep } from "./shown-step.rules.ts";
import { maxCostReached, RunFailed } from "./stopped.ts";
import type { ToolStepDeps } from "./tool-calls.ts";
import { failingCall, plainResult } from "./tool-results.rules.ts";

export interface RunWorkDeps extends ModelCallDeps, ToolStepDeps, ContextDeps {
  countTokens(text: string): Promise<number>;
}

const longestMessage = 2000;

/** The run is done, or was left to wait. Both are written. */
export type WorkEnd = "done" | "left";

/**
 * Continues a run until it is done, waits, or this node shuts down. One model call is one durable step: the answer is
 * stored before a tool is called, and a call is stored before it starts and after it ends. So a claim can begin anywhere:
 *
 *                  ┌──────────────────────────────────────────────────┐
 *                  ▼                                                  │
 *   claim ──► finish the calls ──► check the last answer ──► take a step: plan, work, format, or a summary
 *                  │                    ├──► done: it is the output and satisfies the schema
 *                  │                    └──► left: this node shuts down
 *                  └──► parked: a confirmation is pending or a child runs; its end leads to the next claim
 *
 * A rejection ends the run, unless another node continues it or an engine is unavailable (see work-on-runs.ts).
 */
export async function workOnRun(
  deps: RunWorkDeps,
  session: RunSession,
  history: RunHistory,
  recalled: Recalled,
): Promise<WorkEnd> {
  session.signal.throwIfAborted();
  const context = await openContext(deps, session, history, recalled);
  return new RunWork(deps, session, history, context, recalled.chat).go(recalled);
}

class RunWork {
  readonly #deps: RunWorkDeps;
  readonly #session: RunSession;
  readonly #history: RunHistory;
  readonly #context: RunContext;
  readonly #estimate: TokenEstimate;
  /** Read once: they do not change while the run is under way. */
  #earlier: Promise<EarlierTurns> | undefined;
  #callId: string;
  #cutBefore: number;
  /** The next call, if another node made it and died before it stored the answer. */
  #recalled: ChatEnd | undefined;
  /** Set if that call was a summary. */
  readonly #summingUp: SummaryRange | undefined;
  /** Another node may have made the next call, so its id is not reused. */
  #mayBeMade: boolean;

  constructor(
    deps: RunWorkDeps,
    session: RunSession,
    history: RunHistory,
    context: RunContext,
    recalled: ChatEnd | undefined,
  ) {
    this.#deps = deps;
    this.#session = session;
    this.#history = history;
    this.#context = context;
    this.#estimate = new TokenEstimate(deps.countTokens);
    const { callId, summingUp, cutBefore, claim } = history.run;
    this.#callId = callId ?? newId("prediction");
    this.#cutBefore = cutBefore;
    this.#recalled = recalled;
    this.#summingUp = callId !== null && summingUp?.call_id === callId ? summingUp : undefined;
    this.#mayBeMade = claim > 1;
  }

  async go(recalled: Recalled): Promise<WorkEnd> {
    const { toolbox } = this.#context;
    const { calls } = this.#history;
    let recovered = this.#history.run.claim > 1 ? recalled : undefined;
    for (;;) {
      const waitsFor = await finishCalls(this.#deps, this.#session, toolbox, calls, recovered);
      recovered = undefined;
      this.#session.signal.throwIfAborted();
      if (waitsFor) {
        await this.#session.write({ park: waitsFor });
        return "left";
      }
      const failing = failingCall(wholeCalls(this.#history.steps, calls));
      if (failing) {
        const message = `${failing.tool} failed three times in a row: ${plainResult(failing.result ?? "")}`;
        throw new RunFailed("tool_error", message.slice(0, longestMessage));
      }
      const output = await outputOf(this.#deps, this.#history, this.#history.steps);
      if (output) {
        await this.#session.write(doneWith(output));
        return "done";
      }
      const cut = cutTooOften(this.#history.steps);
      if (cut) throw cut;
      if (this.#session.isLeaving) {
        await this.#session.write({ release: true });
        return "left";
      }
      if (await this.#takeStep()) return "done";
    }
  }

  async #conversation(): Promise<Conversation> {
    const { steps, calls, run, images, snapshot } = this.#history;
    const window = windowOf(await currentModel(this.#deps, this.#history));
    this.#earlier ??= readEarlierTurns(this.#deps.database.sql, run, snapshot, window);
    const earlier = visibleTurns(await this.#earlier, steps);
    const { prompts } = this.#context;
    return { ...prompts, input: run.input, images, earlier, steps, calls, cutBefore: this.#cutBefore, window };
  }

  async #nextCall(): Promise<NextCall> {
    const { snapshot, steps } = this.#history;
    const last = lastStep(steps);
    const faults = last?.kind === "format" ? await faultsOf(this.#deps, this.#history, last) : [];
    const text = joinedText(this.#history.steps);
    return nextCall({ snapshot, tools: this.#context.toolbox.tools, last, text, faults });
  }

  /** Returns whether the answer is the output. Then one write stores the step and ends the run. */
  async #takeStep(): Promise<boolean> {
    checkLimits(this.#history, this.#session.historyBytes);
    const recalled = await this.#recalledAnswer();
    if (recalled && this.#summingUp) {
      await this.#storeSummary(recalled, this.#summingUp);
      return false;
    }
    const next = await this.#nextCall();
    const called = recalled ?? (await this.#ask(next));
    if (!called) return false;
    const { answer } = called;
    if (answer.stop === "refused") throw new RunFailed("internal", "The model refused to answer");
    if (answer.stop === "length" && called.isShort && answer.toolCalls.length === 0) throw maxCostReached();
    const n = this.#history.steps.length + 1;
    const message = messageOf(called, next.kind === "work");
    const prepared = await prepareCalls(this.#deps, this.#session, this.#context.toolbox, n, message);
    const events: NewEvent[] = [];
    if (answer.reasoning !== "") events.push({ type: "reasoning", data: { message: answer.reasoning } });
    if (next.kind === "plan") events.push({ type: "planning", data: { message: answer.text } });
    const step: Step = { n, kind: next.kind, message, prompt: next.prompt ?? null };
    const text = joinedText([...this.#history.steps, step]);
    if (message.toolCalls.length > 0 && text.trim() !== "") events.push({ type: "reasoning", data: { message: text } });
    if (isCutText(step)) {
      const notice = `The model's answer was cut off at ${lengthLimit(message.cutAtTokens ?? 0)}.`;
      events.push({ type: "reasoning", data: { message: notice } });
    }
    events.push(...prepared.change.events);
    const output = await this.#outputWith(step);
    if (output) {
      const { end, events: last } = doneWith(output);
      await this.#store(step, called, { events: [...events, ...last], end });
      return true;
    }
    const { calls, confirmations } = prepared.change;
    await this.#store(step, called, {
      phase: (await isFormattedAfter(this.#deps, this.#history, step)) ? "formatting" : "working",
      events,
      ...(calls.length > 0 && { calls }),
      ...(confirmations.length > 0 && { confirmations }),
    });
    this.#history.calls.push(...prepared.calls);
    return false;
  }

  /** The output, if the step is the answer. Its issues are handled once the step is stored. */
  async #outputWith(step: Step): Promise<Record<string, unknown> | undefined> {
    if (this.#session.signal.aborted) return undefined;
    return outputOf(this.#deps, this.#history, [...this.#history.steps, step]).catch(() => undefined);
  }

  /** Undefined if a summary step was taken instead. */
  async #ask({ kind, chat, prompt }: NextCall): Promise<MadeCall | undefined> {
    const messages = await this.#messagesFor(prompt, chat);
    return (
      messages && this.#call({ ...chat, messages }, undefined, shownStep(this.#history, kind, this.#context.caller))
    );
  }

  /** Messages within the model's window; undefined if a summary step was taken instead. */
  async #messagesFor(prompt: string | undefined, chat: Partial<ChatCall>): Promise<ChatMessage[] | undefined> {
    const conversation = await this.#conversation();
    const { snapshot } = this.#history;
    const withPrompt = (messages: ChatMessage[]): ChatMessage[] =>
      prompt === undefined ? messages : [...messages, { role: "user", content: prompt }];
    if (!snapshot.context_compression) return withPrompt(messagesOf(conversation));
    const beside = JSON.stringify([chat.tools, chat.responseSchema, prompt]);
    const shortening = await shorten(conversation, beside, this.#deps.countTokens);
    if (shortening.kind === "none") return withPrompt(shortening.messages);
    if (shortening.kind === "results") {
      this.#cutBefore = shortening.cutBefore;
      await this.#session.write({ cut_before: this.#cutBefore, events: [shortenedEvent(shortening)] });
      return withPrompt(shortening.messages);
    }
    await this.#sumUp(conversation, shortening.range);
    return undefined;
  }

  async #sumUp(conversation: Conversation, summingUp: SummaryRange): Promise<void> {
    const chat = await summaryCall(conversation, summingUp, this.#context.toolbox.tools, this.#deps.countTokens);
    await this.#session.write({ call_id: this.#callId, summing_up: { call_id: this.#callId, ...summingUp } });
    await this.#storeSummary(await this.#call(chat, summingUp), summingUp);
  }

  async #storeSummary(called: MadeCall, summingUp: SummaryRange): Promise<void> {
    const { step, events } = summaryStep(called, summingUp, this.#history.steps);
    await this.#store(step, called, { events });
  }

  async #call(chat: Omit<ChatCall, "signal">, summingUp?: SummaryRange, shown?: ShownStep): Promise<MadeCall> {
    const made = await askModel(this.#deps, this.#session, this.#history, {
      callId: this.#callId,
      summingUp,
      shown,
      caller: this.#context.caller,
      isListed: this.#context.isListed,
      chat,
      inputTokens: await this.#estimate.of(chat),
    });
    this.#estimate.learn(made.used.input_tokens);
    // The call is charged even if its answer does not become a step.
    this.#session.unwritten.set(made.predictionId, made.used);
    return made;
  }

  /** The answer that an earlier node received but did not store. */
  async #recalledAnswer(): Promise<MadeCall | undefined> {
    const recalled = this.#recalled;
    const callId = this.#callId;
    if (recalled?.kind === "answered") {
      const used = usageOf(recalled);
      this.#recalled = undefined;
      this.#mayBeMade = false;
      // The length limit is unknown; an answer that was cut off has that length.
      const limit = used.output_tokens;
      return { answer: recalled.answer, predictionId: callId, used, isShort: false, setAside: 0, limit };
    }
    if (this.#mayBeMade) {
      this.#callId = newId("prediction");
      await this.#session.write({ call_id: this.#callId, ...(recalled && { cost: usageOf(recalled) }) });
      this.#session.unwritten.delete(callId);
    }
    this.#recalled = undefined;
    this.#mayBeMade = false;
    return undefined;
  }

  /** Writes a step with its changes and the id of the next call. */
  async #store(
    step: Step,
    { predictionId, used, setAside, firstTokenMs }: MadeCall,
    change: Pick<RunChange, "phase" | "events" | "calls" | "confirmations" | "end">,
  ): Promise<void> {
    this.#callId = newId("prediction");
    await this.#session.write({
      ...change,
      call_id: this.#callId,
      holdMore: -setAside,
      step: {
        ...step,
        prompt: step.prompt ?? undefined,
        prediction_id: predictionId,
        first_token_ms: firstTokenMs,
        ...used,
      },
    });
    this.#session.unwritten.delete(predictionId);
    this.#history.steps.push(step);
  }
}
