import { expect, test } from "vitest";
import { gate, useRunsPlatform } from "../../support/runs-platform.ts";
import type { LlmRequest } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

const platform = useRunsPlatform({ pricing: {} });
const { newUser, makeAgent, start, ended, events } = platform;

const narrow = { context_window: 3000 };
const wide = { context_window: 100_000 };
const isForSummary = ({ messages }: LlmRequest) =>
  messages.at(-1)?.content?.startsWith("The conversation is getting too long") ?? false;
const words = (n: number) => `${"some words to be summed up ".repeat(150)}${n}`;

let models = 0;
/**
 * A run with long answers that is done after four steps. Its worker is lost when the call that `isLost`
 * names was charged and its answer not yet stored; the model then has another window.
 */
async function losing(options: { before: object; after: object; isLost(request: LlmRequest, n: number): boolean }) {
  const name = `window-${++models}`;
  await platform.makeModel(name, { pricing: { per_request: 0.1 }, ...options.before });
  const user = await newUser();
  const agent = await makeAgent({ model: `admin/${name}`, tools: ["run_javascript"] }, user.key);
  const [reached, held] = [gate(), gate()];
  let work = 0;
  let all = 0;
  platform.llm.script = async (request, n) => {
    all = n;
    const isSummary = isForSummary(request);
    if (!isSummary) work++;
    const answered = work;
    if (options.isLost(request, n)) {
      reached.open();
      await held.promise;
    }
    if (isSummary) return { text: "The summary." };
    if (answered > 4) return { text: "The answer." };
    return { text: words(answered), calls: [{ name: "run_javascript", args: { code: `${answered}` } }] };
  };
  const id = await start(agent, {}, user);
  await reached.promise;
  const { database } = platform.gantry;
  await database.transaction(async (tx) => {
    const paid = async () =>
      (await database.sql`select 1 from ended_predictions where model_name = ${`admin/${name}`} and status = 200`)
        .length;
    const before = await paid();
    await tx`select 1 from runs where id = ${id} for update`;
    held.open();
    await waitFor("the answer to be paid", async () => (await paid()) === before + 1);
    const patched = await platform.gantry.call("PATCH", `/api/v1/admin/${name}`, { json: options.after });
    expect(patched.status, patched.text).toBe(200);
    // What other nodes do when its heartbeat stops.
    await tx`select release_runs(holder) from runs where id = ${id}`;
  });
  const seen = await ended(id, user.key);
  expect(seen.cost).toBeCloseTo(all * 0.1, 6);
  return { seen, told: await events(id, user.key) };
}

test("a paid summary that a crash kept from the run is used, even in a window that needs none", async () => {
  const { seen, told } = await losing({ before: narrow, after: wide, isLost: isForSummary });
  expect(seen).toMatchObject({ status: "done", output: { text: "The answer." } });
  const compressed = told.filter(({ type }) => type === "compressed");
  expect(compressed).toMatchObject([{ summary: "The summary.", before_tokens: expect.any(Number) }]);
});

test("a paid answer that a crash kept from the run is used, even in a window that needs a summary", async () => {
  const { seen, told } = await losing({ before: wide, after: narrow, isLost: (_, n) => n === 5 });
  expect(seen).toMatchObject({ status: "done", output: { text: "The answer." } });
  expect(told.filter(({ type }) => type === "compressed")).toEqual([]);
});
