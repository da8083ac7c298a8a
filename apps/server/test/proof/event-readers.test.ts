import { get, type IncomingMessage } from "node:http";
import { describe, expect, test } from "vitest";
import type { GantryNode } from "../support/gantry.ts";
import { gate, useRunsPlatform } from "../support/runs-platform.ts";
import { toolResults } from "../support/scripted-llm.ts";
import { waitFor } from "../support/wait-for.ts";

const platform = useRunsPlatform({ context_window: 2_000_000 });
const { makeAgent, start, ended } = platform;
const js = (code: string) => ({ name: "run_javascript", args: { code } });

const stream = (runId: string, options: { query?: string; headers?: Record<string, string>; on?: GantryNode } = {}) =>
  (options.on ?? platform.gantry).fetch("GET", `/v1/runs/${runId}/events${options.query ?? ""}`, {
    headers: options.headers ?? {},
  });
const idsIn = (text: string) => [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
const upTo = (n: number) => Array.from({ length: n }, (_, i) => i + 1);

describe("many readers", () => {
  test("a thousand readers of one run each get every event once and in order", async () => {
    const begin = gate();
    platform.llm.script = async (request) => {
      const told = toolResults(request).length;
      if (told === 0) await begin.promise;
      return told < 20 ? { text: `turn ${told}`, calls: [js(`"x".repeat(5000) + ${told}`)] } : { text: "end" };
    };
    const id = await start(await makeAgent({ tools: ["run_javascript"] }), { max_steps: 50 });
    const counts: { events: number; last: number; isOver: boolean }[] = [];
    const headers = { "x-api-key": platform.gantry.adminKey };
    await Promise.all(
      Array.from({ length: 1000 }, () => {
        const count = { events: 0, last: 0, isOver: false };
        counts.push(count);
        return new Promise<void>((resolve, reject) => {
          const request = get(`${platform.gantry.url}/v1/runs/${id}/events`, { headers, agent: false }, (response) => {
            let rest = "";
            response.setEncoding("utf8").on("data", (chunk: string) => {
              const lines = (rest + chunk).split("\n");
              rest = lines.pop() ?? "";
              for (const line of lines) {
                if (!line.startsWith("id: ")) continue;
                count.events++;
                if (Number(line.slice(4)) === count.last + 1) count.last++;
              }
              resolve();
            });
            response.on("end", () => {
              count.isOver = true;
            });
          });
          request.on("error", reject);
        });
      }),
    );
    begin.open();
    await waitFor("all readers to come to the end", () => counts.every(({ isOver }) => isOver), 60_000);
    // 1 planning, 20 steps of reasoning, call and result, 1 completed.
    expect(new Set(counts.map(({ events, last }) => `${events}/${last}`))).toEqual(new Set(["62/62"]));
  }, 90_000);

  test("a stalled reader does not delay others, and gets everything later", async () => {
    const size = 60_000;
    const many = 120;
    platform.llm.script = (request) =>
      toolResults(request).length < many
        ? { calls: Array.from({ length: many / 2 }, (_, n) => js(`"${n % 10}".repeat(${size})`)) }
        : { text: "end" };
    const agent = await makeAgent({ tools: ["run_javascript"], context_compression: false });
    const id = await start(agent);
    const headers = { "x-api-key": platform.gantry.adminKey };
    const slow = await new Promise<IncomingMessage>((resolve) => {
      get(`${platform.gantry.url}/v1/runs/${id}/events`, { headers, agent: false }, resolve);
    });
    slow.pause();
    const quick = await (await stream(id)).text();
    expect(idsIn(quick)).toEqual(upTo(many * 2 + 2));
    expect((await ended(id)).status).toBe("done");
    let text = "";
    for await (const chunk of slow.setEncoding("utf8")) text += chunk;
    expect(idsIn(text)).toEqual(upTo(many * 2 + 2));
    expect(text.length).toBeGreaterThan(many * size);
  }, 60_000);
});
