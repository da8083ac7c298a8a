import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { gate, type Seen, useRunsPlatform } from "../../support/runs-platform.ts";
import { inTurn, type LlmAnswer } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

const platform = useRunsPlatform();
const { makeAgent, start, ended, read } = platform;

interface Frame {
  id: string | undefined;
  event: string;
  data: Seen;
}

/** Follows the events of a run and collects the frames as they arrive. */
function follow(node: GantryNode, runId: string, query = "?text=true", key?: string) {
  const frames: Frame[] = [];
  const over = (async () => {
    const who = key === undefined ? {} : { key };
    const response = await node.fetch("GET", `/v1/runs/${runId}/events${query}`, who);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let buffered = "";
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
      buffered += part.value;
      const whole = buffered.split("\n\n");
      buffered = whole.pop() ?? "";
      for (const block of whole) {
        const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1];
        const event = field("event");
        if (event !== undefined) frames.push({ id: field("id"), event, data: JSON.parse(field("data") ?? "null") });
      }
    }
  })();
  const written = (kind = "text") =>
    frames
      .filter(({ event, data }) => event === "text" && data.kind === kind)
      .map(({ data }) => data.text)
      .join("");
  return { frames, over, written };
}

describe("the events of a run with text", () => {
  let beside: GantryNode;
  beforeAll(async () => {
    beside = await startGantry({ beside: platform.gantry, env: { GANTRY_ROLE: "api" } });
  });
  afterAll(() => beside.close());

  test("have the text as the model writes it, on every node, from the beginning of the call", async () => {
    const hold = gate<LlmAnswer>();
    platform.llm.script = (_, n) =>
      n === 1 ? hold.promise : { text: "Some words that do not end", reasoning: "Hm.", hangs: true };
    const id = await start(await makeAgent());
    const [here, there] = [follow(platform.gantry, id), follow(beside, id)];
    await waitFor("the call", async () => platform.llm.requests.length === 1);
    hold.open({ text: "", calls: [{ name: "no_such_tool", args: {} }] });
    for (const reader of [here, there]) {
      await waitFor("the text", async () => reader.written() === "Some words that do not end");
      expect(reader.written("reasoning")).toBe("Hm.");
    }
    // Later readers get the text so far; earlier ones get nothing twice.
    const [late, lateThere] = [follow(platform.gantry, id), follow(beside, id)];
    for (const reader of [late, lateThere]) {
      await waitFor("the text so far", async () => reader.written() === "Some words that do not end");
    }
    for (const reader of [here, there]) expect(reader.written()).toBe("Some words that do not end");
    const frame = here.frames.find(({ event }) => event === "text");
    expect(frame).toMatchObject({ id: undefined, data: { step: 2, kind: "reasoning", text: "Hm.", offset: 0 } });
    const trace = (await platform.gantry.call("GET", `/v1/runs/${id}/trace`)).body;
    expect(trace.steps.at(-1)).toMatchObject({ id: frame?.data.call_id, status: "running" });
    await platform.gantry.call("POST", `/v1/runs/${id}/cancel`);
    await ended(id);
    await Promise.all([here.over, there.over, late.over, lateThere.over]);
    expect(here.frames.at(-1)).toMatchObject({ event: "error" });
  });

  test("are the same as before without it", async () => {
    platform.llm.script = inTurn({ text: "a few words" });
    const id = await start(await makeAgent());
    const [plain, texts] = [follow(platform.gantry, id, ""), follow(platform.gantry, id)];
    await Promise.all([plain.over, texts.over]);
    expect(plain.frames.map(({ event }) => event)).toEqual(["planning", "completed"]);
    expect(texts.frames.filter(({ event }) => event !== "text")).toEqual(plain.frames);
    for (const query of ["?text=yes", "?text=1"]) {
      expect((await platform.gantry.call("GET", `/v1/runs/${id}/events${query}`)).status).toBe(400);
    }
  });

  test("show a caller of another user's agent nothing that events do not show", async () => {
    const [creator, caller] = [await platform.newUser(), await platform.newUser()];
    const instructions = { formatting: "Short." };
    const agent = await makeAgent({ visibility: "public", instructions }, creator.key);
    const hold = gate();
    platform.llm.script = async (_, n) => {
      await hold.promise;
      return { text: n === 1 ? "PRIVATE draft" : "the answer" };
    };
    const id = await start(agent, {}, caller);
    const reader = follow(platform.gantry, id, "?text=true", caller.key);
    await waitFor("the call", async () => platform.llm.requests.length === 1);
    hold.open();
    await reader.over;
    expect(JSON.stringify(reader.frames)).not.toContain("PRIVATE");
    expect(await read(id, caller.key)).toMatchObject({ status: "done", output: { text: "the answer" } });
  });
});
