import { beforeEach, expect, test } from "vitest";
import { createClient, type RunFilter } from "../src/index.ts";

const asked: string[] = [];
const client = createClient({
  url: "http://service.test",
  fetch: async (address) => {
    asked.push(String(address));
    return Response.json({ runs: [], total: 0, limit: 20, offset: 0 });
  },
});

beforeEach(() => {
  asked.length = 0;
});

test("runs are listed of an agent, of the run that started them, or all", async () => {
  await client.runs.list({ agent_id: "agt_1", parent_run_id: undefined, status: "done" });
  await client.runs.list({ agent_id: undefined, parent_run_id: "run_1" });
  await client.runs.list();
  expect(asked).toEqual([
    "http://service.test/v1/agents/agt_1/runs?status=done",
    "http://service.test/v1/runs?parent_run_id=run_1",
    "http://service.test/v1/runs",
  ]);
});

test("a program without types that asks for both, which the service has no list of, is refused before it asks", async () => {
  const both = { agent_id: "agt_1", parent_run_id: "run_1" } as object as RunFilter;
  const refusal = new TypeError("Filter runs by agent_id or parent_run_id, not by both");
  await expect(client.runs.list(both)).rejects.toThrow(refusal);
  await expect(client.runs.each(both).next()).rejects.toThrow(refusal);
  expect(asked).toEqual([]);
});
