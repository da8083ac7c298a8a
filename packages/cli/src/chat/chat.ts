import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline/promises";
import type { AgentCard, AgentRecord, GantryClient } from "@gantry/sdk";
import { agreedPrice, findAgent, priceText } from "../agents/find-agent.ts";
import type { Context, Target } from "../frame/command.ts";
import { describeFailure, exitCodes, isGantryError, wrongArguments } from "../frame/failure.ts";
import { onSignals } from "../frame/signals.ts";
import { isTerminal, readStdin } from "../frame/terminal.ts";
import { followRun } from "../runs/follow-run.ts";
import { type Message, streamAnswer, wholeAnswer } from "./completions.ts";
import { messageField } from "./message-field.rules.ts";

/** Answers one message and returns an exit code. `signal` stops the answer. */
type Answer = (message: string, signal: AbortSignal) => Promise<number>;

const mostMessageBytes = 4 * 1024 * 1024;

export async function chat(context: Context): Promise<number> {
  const { words, out, flag } = context;
  const [name = "", given] = words;
  const asks = given === undefined && isTerminal();
  if (asks && flag("json")) throw wrongArguments("--json needs a message.");
  const message = given ?? (asks ? "" : await readStdin(mostMessageBytes, "The message on stdin is too long."));
  if (!asks && message === "") throw wrongArguments("The message is empty.");
  const client = await context.client();
  const answer = await answerer(context, client, name);
  if (!asks) return answer(message, context.signal);
  out.note(`Conversation with ${name}. Ctrl+C stops an answer, Ctrl+D ends the conversation.`);
  return converse(context, answer);
}

/** A name with a slash is a model, unless none has it. */
async function answerer(context: Context, client: GantryClient, name: string): Promise<Answer> {
  const mayBeModel = /^[^/]+\/[^/]+$/.test(name);
  const card = mayBeModel ? await client.models.card(name).catch(noneIfMissing) : undefined;
  if (!card) return agentAnswerer(context, client, await findAgent(client, name.replace(/^agents\//, "")));
  if (card.kind !== "text") throw wrongArguments(`${name} does not write text. Use gantry predict ${name}.`);
  if (context.text("thread") !== undefined) throw wrongArguments("--thread is for agents. Models have no threads.");
  return modelAnswerer(context, await context.target(), name);
}

function noneIfMissing(error: unknown): undefined {
  if (isGantryError(error) && error.status === 404) return undefined;
  throw error;
}

function modelAnswerer({ out, text, flag }: Context, target: Target, model: string): Answer {
  const system = text("system");
  const history: Message[] = system === undefined ? [] : [{ role: "system", content: system }];
  return async (content, signal) => {
    const messages: Message[] = [...history, { role: "user", content }];
    if (flag("json")) {
      out.json(await wholeAnswer(target, model, messages, signal));
      return exitCodes.done;
    }
    let answer = "";
    out.progress("…");
    try {
      for await (const piece of streamAnswer(target, model, messages, signal)) {
        answer += piece;
        await out.text(piece);
      }
    } finally {
      out.progress(undefined);
      if (answer !== "" && !answer.endsWith("\n")) out.line("");
      // What was read before an interruption is a part of the conversation. A failed question is not.
      if (answer !== "") history.push({ role: "user", content }, { role: "assistant", content: answer });
    }
    return exitCodes.done;
  };
}

function agentAnswerer(context: Context, client: GantryClient, agent: AgentRecord | AgentCard): Answer {
  const { out, text, flag } = context;
  if (text("system") !== undefined) throw wrongArguments("--system is for models. An agent has its own instructions.");
  const field = messageField(agent.input_schema);
  const thread_id = text("thread") ?? `chat-${randomUUID()}`;
  const price = agreedPrice(agent);
  if (price.expected_price) out.note(priceText(agent));
  if (text("thread") === undefined) out.note(`Continue later with --thread ${thread_id}`);
  return async (content, signal) => {
    const run = await client.runs.create(agent.id, { input: { [field]: content }, thread_id, ...price }, { signal });
    const options = { showsSteps: !flag("json"), json: flag("json"), approvesAll: false, cancels: true };
    // Ctrl+C stops the run of this message, not the conversation.
    return followRun(Object.create(context, { signal: { value: signal } }) as Context, client, run, options);
  };
}

async function converse({ out }: Context, answer: Answer): Promise<number> {
  const history: string[] = [];
  let stop = new AbortController();
  onSignals(["SIGINT"], () => {
    // A second Ctrl+C while the first is being handled ends the command.
    if (stop.signal.aborted) process.exit(exitCodes.interrupted);
    stop.abort();
  });
  for (;;) {
    const message = await readMessage(history);
    if (message === undefined || message === "/exit") return exitCodes.done;
    if (message === "") continue;
    stop = new AbortController();
    try {
      await answer(message, stop.signal);
    } catch (error) {
      out.progress(undefined);
      out.note(stop.signal.aborted ? "Stopped." : describeFailure(error));
    }
  }
}

/** Undefined at the end: Ctrl+D, or Ctrl+C at the question. */
async function readMessage(history: string[]): Promise<string | undefined> {
  const lines = createInterface({ input: process.stdin, output: process.stderr, history, historySize: 100 });
  lines.on("history", (kept: string[]) => history.splice(0, history.length, ...kept));
  const closed = new Promise<undefined>((resolve) => lines.once("close", () => resolve(undefined)));
  try {
    return (await Promise.race([lines.question("> "), closed]))?.trim();
  } finally {
    lines.close();
  }
}
