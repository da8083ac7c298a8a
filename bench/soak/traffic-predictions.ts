import { setTimeout as sleep } from "node:timers/promises";
import { send } from "../../apps/server/test/proof/client.ts";
import { carryOut, type Observation, planCall } from "../../apps/server/test/proof/paid-calls.ts";
import type { Random } from "../../apps/server/test/proof/random.ts";
import { promptOf } from "../../apps/server/test/proof/upstreams.ts";
import { ask } from "./ask.ts";
import type { Stage } from "./stage.ts";

/** Sync, streamed and queued calls of users whose accounts are audited to the micro-dollar. */
export async function buy(stage: Stage, random: Random, mark: string): Promise<void> {
  const { installation, journal, buyers, keys, learned } = stage;
  const [first, ...others] = buyers.map(({ name }) => name);
  const plan = planCall(random, random.pick([first ?? "", ...others]), mark, 0);
  if (plan.script.end === "ok" && random.chance(0.05)) plan.script.end = random.pick(["busy", "garbage"]);
  const from = Date.now();
  const seen = await carryOut(installation, random, keys, plan);
  learned.calls.push(...seen);
  for (const one of seen) {
    const operation = `buy ${plan.way}`;
    journal.count(operation, one.status === undefined ? one.told : `${one.told} ${one.status}`);
    if (journal.isDisturbed(from)) continue;
    if (isWrong(one)) journal.fault(`${operation}: ${one.told} ${one.status ?? ""}`, JSON.stringify(one));
    if (one.told === "done" && plan.script.end === "ok")
      journal.time(operation, from, Date.now() - from - plan.script.ms);
  }
}

/** Without disturbances, calls end as their script says. */
function isWrong({ plan, told, status }: Observation): boolean {
  if (status === 500) return true;
  if (told === "refused") return status !== 403 && status !== 429;
  // The narrow model has a short time limit, which a slow machine exceeds.
  if (told === "failed") return plan.script.end === "ok" && !(plan.model === "narrow" && status === 504);
  return told === "lost" || told === "unavailable";
}

const script = (random: Random, mark: string) =>
  promptOf({
    end: "ok",
    ms: random.between(10, 300),
    words: random.between(3, 40),
    inputTokens: random.between(5, 50),
    outputTokens: random.between(5, 60),
    mark,
  });

export async function chat(stage: Stage, random: Random, mark: string): Promise<void> {
  const { key } = random.pick(stage.people);
  const messages = [{ role: "user", content: script(random, `chat-${mark}`) }];
  const json = { model: "admin/talk", messages, max_tokens: 64, stream: random.chance(0.5) };
  await ask(stage, json.stream ? "chat stream" : "chat", "POST", "/v1/chat/completions", { key, json });
}

/** Reads a stream a piece at a time with pauses, or leaves in the middle of it. */
export async function readSlowly(stage: Stage, random: Random, mark: string): Promise<void> {
  const { installation, journal } = stage;
  const { key } = random.pick(stage.people);
  const leaves = random.chance(0.5);
  const from = Date.now();
  const leaving = new AbortController();
  try {
    const form = { prompt: script(random, `slow-${mark}`), max_tokens: "64" };
    const path = "/api/v1/admin/talk/predict/stream/";
    const response = await send(installation.url, "POST", path, { key, form, signal: leaving.signal });
    journal.count("slow stream", String(response.status));
    if (response.status !== 200 && (response.status === 500 || !journal.isDisturbed(from)))
      journal.fault(`slow stream: ${response.status}`, `${response.headers.get("x-request-id")}`);
    let pieces = 0;
    for await (const _ of response.body ?? []) {
      await sleep(50);
      if (leaves && ++pieces === 3) leaving.abort();
    }
  } catch (error) {
    if (!leaving.signal.aborted && !journal.isDisturbed(from)) journal.fault("slow stream: lost", String(error));
  }
}

export async function paint(stage: Stage, random: Random): Promise<void> {
  const { key } = random.pick(stage.people);
  const prompt = random.pick(["a pier at dusk", "two birds over a lake", "a red house", "rain in the mountains"]);
  const form = { prompt, size: "1280x720", optimize_prompt_mode: "fast" };
  const answer = await ask(stage, "paint", "POST", "/api/v1/gantry/image/predict", { key, form });
  if (!answer) return;
  const link = new URL(answer.body.files.image.url);
  await ask(stage, "download", "GET", link.pathname + link.search, {});
}

/** Queued with a webhook; some are followed, some cancelled. */
export async function enqueue(stage: Stage, random: Random, mark: string): Promise<void> {
  const { name, key } = random.pick(stage.people);
  const webhook = JSON.stringify({ url: stage.receiverUrl });
  const form = { prompt: script(random, `queued-${mark}`), max_tokens: "64", webhook };
  const answer = await ask(stage, "enqueue", "POST", "/api/v1/admin/talk/predict/async/", { key, form });
  if (!answer) return;
  const id: string = answer.body.prediction_id;
  stage.learned.webhooks.set(id, name);
  if (random.chance(0.1))
    await ask(stage, "cancel", "POST", `/api/v1/admin/talk/predict/cancel/?prediction_id=${id}`, { key });
  else if (random.chance(0.5)) {
    const path = `/api/v1/admin/talk/predict/async/result/?request_id=${id}`;
    await ask(stage, "result", "GET", path, { key, expect: [200, 202] });
  }
}
