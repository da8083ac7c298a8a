import { newId } from "@gantry/wire";
import type { ChatCall, ChatMessage } from "../../../engines/models/chat.ts";
import type { ChatEnd } from "../../predictions/index.ts";
import type { RunHistory, Step } from "../run.ts";
import type { NewEvent, RunChange, SummingUp } from "../run-writer.ts";
import { presentModel } from "./access.ts";
import { askModel, type MadeCall, saidIn, TokenEstimate } from "./ask-model.ts";
import { type ModelCallDeps, usedOf } from "./call-model.ts";
import { faultsOf, isFormattedAfter, lastStep, outputOf } from "./check-answer.ts";
import { shorten, summaryCall, summaryStep } from "./compress.ts";
import { conversation, type Transcript } from "./conversation.rules.ts";
import { cutTooOften, isCutText, joinedText, wholeCalls } from "./cut-answers.rules.ts";
import { finishCalls } from "./finish-calls.ts";
import { type NextCall, nextCall } from "./next-call.rules.ts";
import { type ContextDeps, openContext, type RunContext } from "./open-context.ts";
import { prepareCalls } from "./prepare-calls.ts";
import { lengthLimit } from "./prompts.rules.ts";
import type { Recalled } from "./recall-calls.ts";
import type { RunSession } from "./session.ts";
import { costsTooMuch, RunFailed } from "./stopped.ts";
import type { ToolTurnDeps } from "./tool-calls.ts";
import { cutResult, hopelessCall, plainResult } from "./tool-results.rules.ts";

export interface RunWorkDeps extends ModelCallDeps, ToolTurnDeps, ContextDeps {
  countTokens(text: string): Promise<number>;
}

const defaultWindow = 32_000;
const longestMessage = 2000;

/** How the work on a run stopped without an error: it has an output, or it waits. Either is written. */
export type WorkEnd = "done" | "left";

/**
 * Works on a run from where it stands until it is done, waits for somebody, or is to be left. One model call is one
 * durable step: what the model said is stored before any tool is called, a call is stored as started before it is made
 * and as ended after. So any claim may begin anywhere in this picture:
 *
 *                  ┌──────────────────────────────────────────────────┐
 *                  ▼                                                  │
 *   claim ──► finish the calls ──► look at what was said ──► take a step: plan, work, format, or a summary
 *                  │                    ├──► done: it is the output, and satisfies the schema
 *                  │                    └──► left: this node goes down
 *                  └──► parked: a question is open, or a child runs; its answer, or its end, leads to the next claim
 *
 * Whatever rejects ends the run, unless it goes on elsewhere or an engine of ours is away (see work-on-runs.ts).
 */
export async function workOnRun(
  deps: RunWorkDeps,
  session: RunSession,
  history: RunHistory,
  recalled: Recalled,
): Promise<WorkEnd> {
  if (history.run.cancelRequested) session.stop("cancelled");
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
  #callId: string;
  #cutBefore: number;
  /** How the next call ended, if another node made it and died before it could write that. */
  #recalled: ChatEnd | undefined;
  /** Where the call of that other node was for a summary. */
  readonly #summingUp: SummingUp | undefined;
  /** Another node may have made the next call: its id is not used again. */
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
    this.#callId = history.run.callId ?? newId("prediction");
    this.#cutBefore = history.run.cutBefore;
    this.#recalled = recalled;
    const { callId, summingUp } = history.run;
    this.#summingUp = callId !== null && summingUp?.call_id === callId ? summingUp : undefined;
    this.#mayBeMade = history.run.claim > 1;
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
      const hopeless = hopelessCall(wholeCalls(this.#steps, calls));
      if (hopeless) {
        const message = `${hopeless.tool} failed three times in a row: ${plainResult(hopeless.result ?? "")}`;
        throw new RunFailed("tool_error", message.slice(0, longestMessage));
      }
      const output = await outputOf(this.#deps, this.#history, this.#steps);
      if (output) {
        await this.#session.write(doneWith(output));
        return "done";
      }
      const cut = cutTooOften(this.#steps);
      if (cut) throw cut;
      if (this.#session.isLeaving) {
        await this.#session.write({ release: true });
        return "left";
      }
      if (await this.#takeStep()) return "done";
    }
  }

  get #steps(): Step[] {
    return this.#history.steps;
  }

  async #tellAll(): Promise<Transcript> {
    const { steps, calls, run } = this.#history;
    const { manifest } = await presentModel(this.#deps, this.#history);
    const window = manifest.context_window ?? defaultWindow;
    return { ...this.#context.told, input: run.input, steps, calls, cutBefore: this.#cutBefore, window };
  }

  async #nextCall(): Promise<NextCall> {
    const { snapshot, steps } = this.#history;
    const last = lastStep(steps);
    const faults = last?.kind === "format" ? await faultsOf(this.#deps, this.#history, last) : [];
    const said = joinedText(this.#steps);
    return nextCall({ snapshot, tools: this.#context.toolbox.tools, last, said, faults });
  }

  /** Whether what the model said is the output. Then the step and the end of the run are one write. */
  async #takeStep(): Promise<boolean> {
    const { run } = this.#history;
    if (this.#steps.length >= run.maxSteps) {
      throw new RunFailed("limit_exceeded", `The run took its ${run.maxSteps} steps without reaching the goal`);
    }
    const heard = await this.#heard();
    if (heard && this.#summingUp) {
      await this.#storeSummary(heard, this.#summingUp);
      return false;
    }
    const next = await this.#nextCall();
    const called = heard ?? (await this.#ask(next));
    if (!called) return false;
    const { answer } = called;
    if (answer.stop === "refused") throw new RunFailed("internal", "The model refused to answer");
    if (answer.stop === "length" && called.isShort && answer.toolCalls.length === 0) throw costsTooMuch();
    const n = this.#steps.length + 1;
    const message = saidIn(called, next.kind === "work");
    const { toolbox } = this.#context;
    const prepared = await prepareCalls(this.#deps, this.#session, toolbox, n, message);
    const events: NewEvent[] = [];
    if (answer.reasoning !== "") events.push({ type: "reasoning", data: { message: answer.reasoning } });
    if (next.kind === "plan") events.push({ type: "planning", data: { message: answer.text } });
    const step: Step = { n, kind: next.kind, message, prompt: next.prompt ?? null };
    const said = joinedText([...this.#steps, step]);
    if (message.toolCalls.length > 0 && said.trim() !== "") {
      events.push({ type: "reasoning", data: { message: said } });
    }
    if (isCutText(step)) {
      const told = `The model's answer was cut off at ${lengthLimit(message.cutAtTokens ?? 0)}.`;
      events.push({ type: "reasoning", data: { message: told } });
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

  /** The output, if the step is that. What is wrong with it is said once the step is stored. */
  async #outputWith(step: Step): Promise<Record<string, unknown> | undefined> {
    if (this.#session.signal.aborted) return undefined;
    return outputOf(this.#deps, this.#history, [...this.#steps, step]).catch(() => undefined);
  }

  /** Undefined when a step was spent on making the conversation fit. */
  async #ask({ chat, prompt }: NextCall): Promise<MadeCall | undefined> {
    const messages = await this.#messagesFor(prompt, chat);
    return messages && this.#call({ ...chat, messages });
  }

  /** The conversation within the model's window; undefined when a step was spent on making it fit. */
  async #messagesFor(prompt: string | undefined, chat: Partial<ChatCall>): Promise<ChatMessage[] | undefined> {
    const told = await this.#tellAll();
    const { snapshot } = this.#history;
    const asked = (messages: ChatMessage[]): ChatMessage[] =>
      prompt === undefined ? messages : [...messages, { role: "user", content: prompt }];
    if (!snapshot.context_compression) return asked(conversation(told));
    const beside = JSON.stringify([chat.tools, chat.responseSchema, prompt]);
    const shortening = await shorten(told, beside, this.#deps.countTokens);
    if (shortening.kind === "none") return asked(shortening.messages);
    if (shortening.kind === "results") {
      const { cutBefore, before, after } = shortening;
      this.#cutBefore = cutBefore;
      const message = `Older results were shortened: about ${before} tokens became ${after}.`;
      await this.#session.write({
        cut_before: cutBefore,
        events: [{ type: "compressed", data: { message, before_tokens: before, after_tokens: after } }],
      });
      return asked(shortening.messages);
    }
    await this.#sumUp(told, { covers: shortening.covers, before_tokens: shortening.before });
    return undefined;
  }

  async #sumUp(told: Transcript, summingUp: SummingUp): Promise<void> {
    const chat = await summaryCall(told, summingUp, this.#context.toolbox.tools, this.#deps.countTokens);
    await this.#session.write({ call_id: this.#callId, summing_up: { call_id: this.#callId, ...summingUp } });
    await this.#storeSummary(await this.#call(chat, summingUp), summingUp);
  }

  async #storeSummary(called: MadeCall, summingUp: SummingUp): Promise<void> {
    const { step, events } = summaryStep(called, summingUp, this.#steps);
    await this.#store(step, called, { events });
  }

  async #call(chat: Omit<ChatCall, "signal">, summingUp?: SummingUp): Promise<MadeCall> {
    const made = await askModel(this.#deps, this.#session, this.#history, {
      callId: this.#callId,
      summingUp,
      caller: this.#context.caller,
      chat,
      inputTokens: await this.#estimate.of(chat),
    });
    this.#estimate.learn(made.used.input_tokens);
    // An answer that comes to be no step was paid all the same.
    this.#session.unwritten.set(made.predictionId, made.used);
    return made;
  }

  /** What the model said to a node before this one. */
  async #heard(): Promise<MadeCall | undefined> {
    const recalled = this.#recalled;
    const callId = this.#callId;
    if (recalled?.kind === "answered") {
      const used = usedOf(recalled);
      this.#recalled = undefined;
      this.#mayBeMade = false;
      // How long it was allowed to be is not known any more; where it was cut, that was as long as it is.
      const limit = used.output_tokens;
      return { answer: recalled.answer, predictionId: callId, used, isShort: false, setAside: 0, limit };
    }
    if (this.#mayBeMade) {
      this.#callId = newId("prediction");
      await this.#session.write({ call_id: this.#callId, ...(recalled && { cost: usedOf(recalled) }) });
      this.#session.unwritten.delete(callId);
    }
    this.#recalled = undefined;
    this.#mayBeMade = false;
    return undefined;
  }

  /** Writes a step and everything that it brought, with the id of the call after it. */
  async #store(
    step: Step,
    { predictionId, used, setAside }: MadeCall,
    change: Pick<RunChange, "phase" | "events" | "calls" | "confirmations" | "end">,
  ): Promise<void> {
    this.#callId = newId("prediction");
    await this.#session.write({
      ...change,
      call_id: this.#callId,
      holdMore: -setAside,
      step: { ...step, prompt: step.prompt ?? undefined, prediction_id: predictionId, ...used },
    });
    this.#session.unwritten.delete(predictionId);
    this.#steps.push(step);
  }
}

function doneWith(output: Record<string, unknown>): Required<Pick<RunChange, "events" | "end">> {
  return {
    events: [{ type: "completed", data: { output } }],
    end: { status: "done", output, told: cutResult(JSON.stringify(output)), told_error: false },
  };
}
