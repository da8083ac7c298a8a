import type { ThreadTurn } from "@gantry/sdk";
import { findAgent } from "../agents/find-agent.ts";
import type { Context } from "../frame/command.ts";
import { exitCodes } from "../frame/failure.ts";
import { ago, money, time } from "../frame/format.rules.ts";
import { printList } from "../frame/list.ts";
import { statusOf } from "../runs/list.ts";
import { resultText } from "../runs/run-text.rules.ts";
import { printDeleted } from "../shared/print-deleted.ts";
import { confirmDeletion } from "../shared/questions.ts";

export async function listThreads(context: Context): Promise<number> {
  const client = await context.client();
  const agent = context.text("agent");
  const filter = agent === undefined ? {} : { agent_id: (await findAgent(client, agent)).id };
  return printList(
    context,
    client.threads.each(filter),
    [
      { title: "thread", value: ({ id }) => id },
      { title: "agent", value: ({ agent_name }) => agent_name },
      { title: "runs", value: ({ runs }) => runs, align: "right" },
      { title: "last", value: ({ last_status }) => last_status },
      { title: "updated", value: ({ updated_at }) => ago(updated_at) },
      { title: "title", value: ({ title }) => title },
    ],
    "You have no threads. Begin one with: gantry agents run AGENT --thread ID",
  );
}

export async function showThread(context: Context): Promise<number> {
  const { out } = context;
  const client = await context.client();
  const thread = await client.threads.get(context.words[0] ?? "", { before: context.text("before") });
  if (context.flag("json")) {
    out.json(thread);
    return exitCodes.done;
  }
  const { turns, has_more } = thread;
  if (has_more) out.note(`There are earlier turns: gantry threads show ${thread.id} --before ${turns[0]?.run_id}`);
  for (const [n, turn] of turns.entries()) {
    out.line(`${n === 0 ? "" : "\n"}${time(turn.created_at)}  ${turn.run_id}  ${money(turn.cost)}`);
    out.line(`> ${questionOf(turn).replaceAll("\n", "\n> ")}`);
    out.line(answerOf(turn));
  }
  return exitCodes.done;
}

/** An input of one text is that text. Chat clients also send all messages, the last of which is that text. */
function questionOf({ input: { messages, ...rest } }: ThreadTurn): string {
  const input = Array.isArray(messages) && typeof rest.input === "string" ? rest : { messages, ...rest };
  const [only, ...more] = Object.values(input).filter((value) => value !== undefined);
  return typeof only === "string" && more.length === 0 ? only : JSON.stringify(input, null, 2);
}

function answerOf(turn: ThreadTurn): string {
  if (turn.output) return resultText(turn.output);
  return turn.error ? `Failed: ${turn.error.message} (${turn.error.type})` : `(${statusOf(turn)})`;
}

export async function deleteThread(context: Context): Promise<number> {
  const [id = ""] = context.words;
  if (!(await confirmDeletion(context, `the thread ${id} with its runs`))) return exitCodes.failed;
  await (await context.client()).threads.delete(id);
  return printDeleted(context, id);
}
