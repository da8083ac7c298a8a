import type { AgentSnapshot } from "@gantry/wire";
import type { Sql } from "../../../engines/database/database.ts";
import { isRecord } from "../../../kernel/is-record.ts";
import { outputText } from "../converse/answer-text.rules.ts";
import type { Run } from "../run.ts";
import { shortened } from "../work/conversation.rules.ts";
import { type EarlierTurn, type EarlierTurns, noEarlierTurns } from "./earlier-turns.rules.ts";
import { inputText } from "./turn-texts.rules.ts";

const mostTurns = 1000;
/** A longer input or output is read only in part. */
const wholeBytes = 256 * 1024;
/** Bytes to read for each token of the window. Without compression the oldest turns are left out, to fill half of it. */
const bytesPerToken = { compressed: 8, uncompressed: 1.5 };
/** Part of the window, in characters for each token, for one text. */
const textPart = 0.5;
const leastText = 500;
/** Characters of the input of a failed turn. */
const failedText = 200;

type ThreadRun = Pick<Run, "id" | "userId" | "threadId">;

/**
 * The turns before a run of a thread: runs with a smaller id. All of them have ended when the run starts, because runs of
 * a thread run in the order of their ids, so every node and every claim reads the same. A summary is a step of the run
 * that made and paid it, and replaces the turns up to a run for all later ones.
 */
export async function readEarlierTurns(
  sql: Sql,
  run: ThreadRun,
  { context_compression: isCompressed }: Pick<AgentSnapshot, "context_compression">,
  window: number,
): Promise<EarlierTurns> {
  if (run.threadId === null) return noEarlierTurns;
  const summary = await findSummary(sql, run);
  const perToken = isCompressed ? bytesPerToken.compressed : bytesPerToken.uncompressed;
  const kept = Math.max(leastText, Math.floor(window * textPart));
  const rows = await selectTurns(sql, run, summary?.until ?? "", Math.ceil(window * perToken));
  const turns = rows.map((row) => turnOf(row, kept));
  return { summary: summary?.text, turns };
}

async function findSummary(
  sql: Sql,
  { id, userId, threadId }: ThreadRun,
): Promise<{ text: string; until: string } | undefined> {
  const [found] = await sql<{ text: string; until: string }[]>`
    select s.message ->> 'text' as text, s.message ->> 'turns' as until
    from runs r join run_steps s on s.run_id = r.id and s.n = r.turns_summary
    where r.user_id = ${userId} and r.thread_id = ${threadId} and r.turns_summary is not null and r.id < ${id}
    order by r.id desc limit 1`;
  return found;
}

interface TurnRow {
  id: string;
  input: Record<string, unknown> | string;
  output: Record<string, unknown> | string | null;
  errorType: string | null;
}

async function selectTurns(
  sql: Sql,
  { id, userId, threadId }: ThreadRun,
  after: string,
  mostBytes: number,
): Promise<TurnRow[]> {
  return sql<TurnRow[]>`
    with newest as materialized (
      select r.id, least(octet_length(r.input::text), ${wholeBytes})
        + least(coalesce(octet_length(r.output::text), 0), ${wholeBytes}) as bytes
      from runs r
      where r.user_id = ${userId} and r.thread_id = ${threadId} and r.id < ${id} and r.id > ${after}
        and r.completed_at is not null
      order by r.id desc limit ${mostTurns}
    ), chosen as (
      select n.id, sum(n.bytes) over (order by n.id desc) - n.bytes as before from newest n
    )
    select r.id, r.error ->> 'type' as "errorType",
      case when octet_length(r.input::text) <= ${wholeBytes} then r.input
        else to_json(left(coalesce(r.input ->> 'input', r.input::text), ${wholeBytes}::int / 4)) end as input,
      case when octet_length(r.output::text) <= ${wholeBytes} then r.output
        else to_json(left(coalesce(r.output ->> 'text', r.output::text), ${wholeBytes}::int / 4)) end as output
    from chosen c join runs r on r.id = c.id where c.before < ${mostBytes} order by r.id`;
}

function turnOf({ id, input, output, errorType }: TurnRow, kept: number): EarlierTurn {
  const said = isRecord(input) ? inputText(input) : String(input);
  if (errorType !== null) {
    const [line = ""] = said.trim().split("\n", 1);
    return {
      runId: id,
      input: shortened(line, failedText),
      answer: `(No answer: ${failureTexts[errorType] ?? "the run failed"}.)`,
    };
  }
  const answer = isRecord(output) ? outputText(output) : String(output ?? "");
  return { runId: id, input: shortened(said, kept), answer: shortened(answer, kept) };
}

const failureTexts: Readonly<Record<string, string>> = {
  cancelled: "the run was cancelled",
  timeout: "the run exceeded its time limit",
  limit_exceeded: "the run exceeded a limit",
  insufficient_funds: "the balance was too low",
};
