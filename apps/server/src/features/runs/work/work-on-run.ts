import { newId } from "@gantry/wire";
import type { ChatCall, ChatMessage } from "../../../engines/models/chat.ts";
import type { SchemaFault } from "../../../engines/schemas/schemas.ts";
import type { Templates } from "../../../engines/templates/templates.ts";
import { Fault } from "../../../kernel/errors.ts";
import type { Accounts, Caller } from "../../accounts/index.ts";
import type { Model, Models } from "../../models/index.ts";
import type { Run, RunHistory, SaidMessage, Step, StepKind } from "../run.ts";
import type { NewEvent, RunChange } from "../run-change.ts";
import { openToolbox, type Toolbox, type ToolboxDeps } from "../tools/toolbox.ts";
import { freeOutput, isObject, jsonAnswer } from "./answer.rules.ts";
import { type CalledModel, callModel, type ModelCallDeps } from "./call-model.ts";
import { shorten, summaryMessages } from "./compress.ts";
import { conversation, type Told, visibleSteps } from "./conversation.rules.ts";
import { type Affordable, affordableCall } from "./max-cost.rules.ts";
import {
  afterPlanning,
  faultsPrompt,
  formattingPrompt,
  planningPrompt,
  summaryPrompt,
  systemPrompt,
} from "./prompts.rules.ts";
import { hopelessCall } from "./repeats.rules.ts";
import type { RunSession } from "./session.ts";
import { costsTooMuch, RunFailed } from "./stopped.ts";
import { TokenEstimate } from "./token-estimate.ts";
import { finishCalls, prepareCalls, type ToolTurnDeps } from "./tool-turn.ts";

export interface RunWorkDeps extends ModelCallDeps, ToolTurnDeps, ToolboxDeps {
  templates: Pick<Templates, "render">;
  models: Pick<Models, "getModel">;
  accounts: Pick<Accounts, "callerOfKey">;
  countTokens(text: string): Promise<number>;
}

const defaultWindow = 32_000;
const formatTries = 3;
const longestMessage = 2000;
/** Of the model's window, for a summary at most. */
const summaryPart = 0.15;

/** How the work on a run stopped without an error: it has an output, or it waits. */
export type WorkEnd = { kind: "done"; output: Record<string, unknown> } | { kind: "left" };

/**
 * Works on a run from where it stands until it is done, waits for somebody, or is to be left. One model call is one
 * durable step: what the model said is stored before any tool is called, a call is stored as started before it is made
 * and as ended after.
 *
 *   planning ──► working ⇄ tools ──► formatting ──► done
 */
export async function workOnRun(deps: RunWorkDeps, session: RunSession, history: RunHistory): Promise<WorkEnd> {
  if (history.run.cancelRequested) session.stop("cancelled");
  session.signal.throwIfAborted();
  const context = await openContext(deps, session, history);
  await announce(session, history, context);
  return new RunWork(deps, session, history, context).go();
}

/** What every claim of a run needs: who pays, which model, which tools, what is wanted. */
interface RunContext {
  caller: Caller;
  model: Model;
  toolbox: Toolbox;
  told: Pick<Told, "system" | "goal">;
}

async function openContext(deps: RunWorkDeps, { signal }: RunSession, history: RunHistory): Promise<RunContext> {
  const { run, snapshot } = history;
  const caller = await deps.accounts.callerOfKey(run.keyId);
  const model = await deps.models.getModel(snapshot.model);
  if (!caller || !model || (model.manifest.visibility === "private" && model.ownerId !== run.ownerId)) {
    throw new RunFailed("internal", `The agent's model ${snapshot.model} can no longer be called`);
  }
  const { ownerId, connectors, baseUrl } = run;
  const toolbox = await openToolbox(deps, { runId: run.id, caller, ownerId, snapshot, connectors, baseUrl }, signal);
  const told = {
    system: systemPrompt(snapshot, toolbox.missing),
    goal: deps.templates.render(snapshot.goal, run.input),
  };
  return { caller, model, toolbox, told };
}

/** What the first event says that is no plan. */
function openingNotes({ userId, ownerId }: Run, { model: { endpointId, manifest }, toolbox }: RunContext): string[] {
  const notes: string[] = [];
  if (endpointId === "anthropic/default" && manifest.backend.type === "builtin") {
    notes.push(
      "anthropic/default is answered by the rule-based planner gantry/rules here, which is no language model: the operator has set neither ANTHROPIC_API_KEY nor GANTRY_LLM_URL.",
    );
  }
  const { missing } = toolbox;
  if (userId === ownerId) for (const one of missing) notes.push(`Not available: ${one}.`);
  // Which servers an agent uses, and what they answer, is its creator's alone.
  else if (missing.length > 0) notes.push(`Not available: ${missing.length} of what the agent is to have.`);
  return notes;
}

/** The first event of a fresh run. On a later claim, only to hear whether it was cancelled and what it may still cost. */
async function announce(session: RunSession, { run, snapshot }: RunHistory, context: RunContext): Promise<void> {
  if (run.lastEvent > 0) {
    await session.write({});
    return;
  }
  const plans = Boolean(snapshot.instructions.planning);
  const notes = openingNotes(run, context);
  // With an instruction for it the plan itself is the event; the platform then speaks only where it must.
  if (!plans) notes.push(`Working on the goal with ${snapshot.model}.`);
  const events = notes.length > 0 ? [{ type: "planning", data: { message: notes.join(" ") } }] : [];
  await session.write({ phase: plans ? "planning" : "working", events });
}

class RunWork {
  readonly #deps: RunWorkDeps;
  readonly #session: RunSession;
  readonly #history: RunHistory;
  readonly #context: RunContext;
  readonly #estimate: TokenEstimate;
  #callId: string;
  #cutBefore: number;
  /** The next call may have been made by another node, which died before it could say so. */
  #mayBeMade: boolean;

  constructor(deps: RunWorkDeps, session: RunSession, history: RunHistory, context: RunContext) {
    this.#deps = deps;
    this.#session = session;
    this.#history = history;
    this.#context = context;
    this.#estimate = new TokenEstimate(deps.countTokens);
    this.#callId = history.run.callId ?? newId("prediction");
    this.#cutBefore = history.run.cutBefore;
    this.#mayBeMade = history.run.claim > 1;
  }

  async go(): Promise<WorkEnd> {
    const { toolbox } = this.#context;
    const { calls } = this.#history;
    let recovered = this.#history.run.claim > 1;
    for (;;) {
      const waitsFor = await finishCalls(this.#deps, this.#session, toolbox, calls, recovered);
      recovered = false;
      this.#session.signal.throwIfAborted();
      if (waitsFor) {
        const phase = waitsFor === "confirmation" ? "awaiting_confirmation" : "working";
        await this.#session.write({ park: waitsFor, phase });
        return { kind: "left" };
      }
      const hopeless = hopelessCall(calls);
      if (hopeless) {
        const message = `${hopeless.tool} failed three times in a row: ${hopeless.result ?? ""}`;
        throw new RunFailed("tool_error", message.slice(0, longestMessage));
      }
      const output = await this.#outputOfLastStep();
      if (output) return { kind: "done", output };
      if (this.#session.isLeaving) {
        await this.#session.write({ release: true });
        return { kind: "left" };
      }
      await this.#takeStep();
    }
  }

  get #steps(): Step[] {
    return this.#history.steps;
  }

  #tellAll(): Told {
    const { steps, calls, run } = this.#history;
    const window = this.#context.model.manifest.context_window ?? defaultWindow;
    return { ...this.#context.told, input: run.input, steps, calls, cutBefore: this.#cutBefore, window };
  }

  #lastStep(): Step | undefined {
    return this.#steps.findLast((step) => step.kind !== "summary");
  }

  /** The run's output, if what the model said last is that. */
  async #outputOfLastStep(): Promise<Record<string, unknown> | undefined> {
    const { snapshot } = this.#history;
    const last = this.#lastStep();
    if (!last || last.kind === "plan" || last.message.toolCalls.length > 0) return undefined;
    if (last.kind === "work" && snapshot.instructions.formatting) return undefined;
    if (!snapshot.output_schema) return freeOutput(last.message.text);
    const faults = await this.#faultsOf(last);
    if (faults.length === 0) return jsonAnswer(last.message.text) as Record<string, unknown>;
    const tries = this.#steps.filter((step) => step.kind === "format").length;
    if (tries < formatTries) return undefined;
    const told = faults.slice(0, 3).map(({ path, message }) => `${path.join(".") || "the answer"}: ${message}`);
    throw new RunFailed("internal", `The model's answer never satisfied the output schema: ${told.join("; ")}`);
  }

  /** Whether the next call, if there is one, is about the form of the answer. */
  async #isFormattedAfter(step: Step): Promise<boolean> {
    const { instructions, output_schema: schema } = this.#history.snapshot;
    if (step.kind === "format") return true;
    if (step.kind !== "work" || step.message.toolCalls.length > 0) return false;
    return Boolean(instructions.formatting) || (schema !== null && (await this.#faultsOf(step)).length > 0);
  }

  async #faultsOf(step: Step): Promise<readonly SchemaFault[]> {
    const value = jsonAnswer(step.message.text);
    if (value === undefined) return [{ path: [], message: "must be JSON" }];
    if (!isObject(value)) return [{ path: [], message: "must be a JSON object" }];
    return this.#deps.schemas.validate(this.#history.snapshot.output_schema ?? {}, value);
  }

  /** The kind of the next call, and what is said to the model beside the conversation so far. */
  async #nextCall(): Promise<{ kind: StepKind; prompt?: string; chat: Partial<ChatCall> }> {
    const { snapshot } = this.#history;
    const { tools } = this.#context.toolbox;
    const last = this.#lastStep();
    const schema = snapshot.output_schema ? { responseSchema: snapshot.output_schema } : {};
    const noCall = tools.length > 0 ? { tools, toolChoice: "none" as const } : {};
    if (!last && snapshot.instructions.planning) {
      return { kind: "plan", prompt: planningPrompt(snapshot.instructions.planning), chat: noCall };
    }
    if (last?.kind === "format") {
      return { kind: "format", prompt: faultsPrompt(await this.#faultsOf(last)), chat: { ...noCall, ...schema } };
    }
    if (last?.kind === "work" && last.message.toolCalls.length === 0) {
      return { kind: "format", prompt: formattingPrompt(snapshot), chat: { ...noCall, ...schema } };
    }
    const prompt = last?.kind === "plan" ? { prompt: afterPlanning } : {};
    // Without tools there is nothing to do before the answer.
    if (tools.length === 0 && snapshot.output_schema) return { kind: "format", ...prompt, chat: schema };
    return { kind: "work", ...prompt, chat: tools.length > 0 ? { tools } : {} };
  }

  async #takeStep(): Promise<void> {
    const { run } = this.#history;
    if (this.#steps.length >= run.maxSteps) {
      throw new RunFailed("limit_exceeded", `The run took its ${run.maxSteps} steps without reaching the goal`);
    }
    const next = await this.#nextCall();
    const messages = await this.#messagesFor(next.prompt, next.chat);
    if (!messages) return;
    const called = await this.#call({ ...next.chat, messages });
    const { answer } = called;
    if (answer.stop === "refused") {
      await this.#giveUp(called, new RunFailed("internal", "The model refused to answer"));
    }
    if (answer.stop === "length" && called.isShort && answer.toolCalls.length === 0) {
      await this.#giveUp(called, costsTooMuch());
    }
    const n = this.#steps.length + 1;
    const message: SaidMessage = {
      text: answer.text,
      // A model that calls tools although it was told not to is not answered: it has had its turn.
      toolCalls: next.kind === "work" ? answer.toolCalls : [],
      ...(next.kind === "work" && answer.opaque !== undefined && { opaque: answer.opaque }),
    };
    const { toolbox } = this.#context;
    const prepared = await prepareCalls(this.#deps, this.#session, toolbox, n, message.toolCalls).catch((error) =>
      this.#giveUp(called, error),
    );
    const events: NewEvent[] = [];
    if (answer.reasoning !== "") events.push({ type: "reasoning", data: { message: answer.reasoning } });
    if (next.kind === "plan") events.push({ type: "planning", data: { message: answer.text } });
    if (message.toolCalls.length > 0 && answer.text.trim() !== "") {
      events.push({ type: "reasoning", data: { message: answer.text } });
    }
    events.push(...prepared.change.events);
    const { calls, confirmations } = prepared.change;
    const step: Step = { n, kind: next.kind, message, prompt: next.prompt ?? null };
    await this.#store(step, called, {
      phase: (await this.#isFormattedAfter(step)) ? "formatting" : "working",
      events,
      ...(calls.length > 0 && { calls }),
      ...(confirmations.length > 0 && { confirmations }),
    });
    this.#history.calls.push(...prepared.calls);
  }

  /** An answer that is no step, and was paid all the same: it is counted, under an id that nobody recalls again. */
  async #giveUp({ used, setAside }: MadeCall, error: unknown): Promise<never> {
    if (error instanceof RunFailed) {
      await this.#session.write({ call_id: newId("prediction"), cost: used, holdMore: -setAside });
    }
    throw error;
  }

  /** The conversation within the model's window; undefined when a step was spent on making it fit. */
  async #messagesFor(prompt: string | undefined, chat: Partial<ChatCall>): Promise<ChatMessage[] | undefined> {
    const told = this.#tellAll();
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
    await this.#sumUp(told, shortening.covers, shortening.before);
    return undefined;
  }

  async #sumUp(told: Told, covers: number, before: number): Promise<void> {
    const { tools } = this.#context.toolbox;
    const older = await summaryMessages(told, covers, JSON.stringify(tools), this.#deps.countTokens);
    const called = await this.#call({
      messages: [...older, { role: "user", content: summaryPrompt }],
      maxTokens: Math.ceil(told.window * summaryPart),
      ...(tools.length > 0 && { tools, toolChoice: "none" }),
    });
    const step: Step = {
      n: this.#steps.length + 1,
      kind: "summary",
      message: { text: called.answer.text, toolCalls: [], covers },
      prompt: null,
    };
    const count = visibleSteps(told.steps).filter(({ n }) => n <= covers).length;
    const message = `${count} older steps were summed up; the conversation had about ${before} tokens.`;
    await this.#store(step, called, {
      events: [{ type: "compressed", data: { message, before_tokens: before, summary: called.answer.text } }],
    });
  }

  async #call(chat: Omit<ChatCall, "signal">): Promise<MadeCall> {
    const { maxTokens, isShort, most } = await this.#setAside(chat);
    const inputTokens = await this.#estimate.of(chat);
    const called = await callModel(this.#deps, this.#session, {
      callId: this.#callId,
      mayBeMade: this.#mayBeMade,
      caller: this.#context.caller,
      model: this.#context.model,
      chat: {
        ...chat,
        ...(maxTokens !== undefined && { maxTokens: Math.min(maxTokens, chat.maxTokens ?? maxTokens) }),
      },
      inputTokens,
    });
    this.#estimate.learn(called.used.input_tokens);
    this.#mayBeMade = false;
    return { ...called, isShort, setAside: most };
  }

  /** What the call may cost is set aside before it is made, so that calls side by side do not exceed a limit together. */
  async #setAside(chat: Omit<ChatCall, "signal">): Promise<Affordable> {
    const { manifest } = this.#context.model;
    for (;;) {
      const affordable = await affordableCall(manifest, chat, this.#session.room, this.#deps.countTokens);
      if (affordable === undefined) throw costsTooMuch();
      if (affordable === "no limit") return { maxTokens: undefined, isShort: false, most: 0 };
      if (await this.#session.setAside(affordable.most)) return affordable;
    }
  }

  /** Writes a step and everything that it brought, with the id of the call after it. */
  async #store(
    step: Step,
    { predictionId, used, setAside }: MadeCall,
    change: Pick<RunChange, "phase" | "events" | "calls" | "confirmations">,
  ): Promise<void> {
    this.#callId = newId("prediction");
    await this.#session.write({
      ...change,
      call_id: this.#callId,
      holdMore: -setAside,
      step: { ...step, prompt: step.prompt ?? undefined, prediction_id: predictionId, ...used },
    });
    this.#steps.push(step);
  }
}

type MadeCall = CalledModel & Pick<Affordable, "isShort"> & { setAside: number };

/** What a run ends with when the work on it rejected. */
export function failureOf(error: unknown): RunFailed {
  if (error instanceof RunFailed) return error;
  if (error instanceof Fault && error.type === "insufficient_funds") {
    return new RunFailed("insufficient_funds", error.message, error);
  }
  if (error instanceof Fault && error.status < 500) return new RunFailed("invalid_input", error.message, error);
  return new RunFailed("internal", "The platform failed to carry the run on", error);
}
