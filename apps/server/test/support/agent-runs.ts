import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { selfSigned } from "../../src/engines/net/self-signed.fixture.ts";
import { verifyLedger } from "../../src/features/billing/index.ts";
import { type Answer, type GantryNode, startGantry } from "./gantry.ts";
import { agentModel, createModels } from "./models.ts";
import { type LlmRequest, type ScriptedLlm, startScriptedLlm } from "./scripted-llm.ts";
import { waitFor } from "./wait-for.ts";

// biome-ignore lint/suspicious/noExplicitAny: a test reads what came over the wire and states what it must be
type Json = any;

interface By {
  key?: string | undefined;
}

export interface AgentRuns {
  gantry: GantryNode;
  llm: ScriptedLlm;
  /** Creates a published agent on the scripted model; returns its id. */
  makeAgent(fields?: object, by?: By): Promise<string>;
  /** Starts a run and waits for its end, unless the body sets another wait. */
  run(agentId: string, body?: object, by?: By): Promise<Answer>;
  /** Starts a run and waits for its first confirmation. */
  runUntilAsked(agentId: string, body?: object, by?: By): Promise<{ runId: string; asked: Json }>;
  answer(runId: string, confirmationId: string, body: object, by?: By): Promise<Answer>;
  ended(runId: string, by?: By): Promise<Json>;
  events(runId: string, by?: By): Promise<Json[]>;
  confirmations(runId: string, by?: By): Promise<Json[]>;
  /** Tool results in the n-th request to the model. */
  told(n: number): string[];
  /** The tool's schema in the first request to the model. */
  offered(name: string): LlmRequest["tools"] extends (infer T)[] | undefined ? T | undefined : never;
  /** Everything readable: prompts, events, confirmations, the run, the log. */
  everythingShown(runId: string, by?: By): Promise<string>;
  /** Verifies the ledger first. */
  close(): Promise<void>;
}

const byKey = ({ key }: By = {}) => (key === undefined ? {} : { key });

/** The whole server with a scripted model. It trusts the certificate of the test tenant. */
export async function startAgentRuns(): Promise<AgentRuns> {
  const room = await mkdtemp(join(tmpdir(), "gantry-ca-"));
  const authority = join(room, "authority.pem");
  await writeFile(authority, selfSigned.cert);
  const llm = await startScriptedLlm();
  const gantry = await startGantry({ env: { GANTRY_EXTRA_CA: authority } });
  await createModels(gantry, { llm: agentModel(llm.url, { context_window: 200_000 }) });

  let count = 0;
  const get = async (path: string, by?: By) => {
    const answer = await gantry.call("GET", path, byKey(by));
    expect(answer.status, answer.text).toBe(200);
    return answer;
  };

  const runs: AgentRuns = {
    gantry,
    llm,
    async makeAgent(fields = {}, by) {
      const json = { name: `Agent ${++count}`, goal: "Do it.", tools: [], model: "admin/llm", ...fields };
      const agent = await gantry.call("POST", "/v1/agents", { json, ...byKey(by) });
      expect(agent.status, agent.text).toBe(201);
      const published = await gantry.call("POST", `/v1/agents/${agent.body.id}/publish`, { json: {}, ...byKey(by) });
      expect(published.status, published.text).toBe(200);
      return agent.body.id;
    },
    run: (agentId, body = {}, by) =>
      gantry.call("POST", `/v1/agents/${agentId}/runs`, { json: { input: {}, wait: 30, ...body }, ...byKey(by) }),
    async runUntilAsked(agentId, body = {}, by) {
      const started = await runs.run(agentId, { wait: 0, ...body }, by);
      expect(started.status, started.text).toBe(201);
      const runId = started.body.id;
      const pending = async () =>
        (await runs.confirmations(runId, by)).find((one: Json) => one.status === "pending") as Json;
      const parked = async () => (await get(`/v1/runs/${runId}`, by)).body.phase === "awaiting_confirmation";
      await waitFor("the question", async () => (await pending()) !== undefined && (await parked()));
      return { runId, asked: await pending() };
    },
    answer: (runId, confirmationId, body, by) =>
      gantry.call("POST", `/v1/runs/${runId}/confirmations/${confirmationId}`, { json: body, ...byKey(by) }),
    async ended(runId, by) {
      const { body } = await get(`/v1/runs/${runId}?wait=30`, by);
      expect(body.phase, JSON.stringify(body)).toBe("ended");
      return body;
    },
    events: async (runId, by) => (await get(`/v1/runs/${runId}/events/list`, by)).body.events,
    confirmations: async (runId, by) => (await get(`/v1/runs/${runId}/confirmations`, by)).body.confirmations,
    told: (n) =>
      (llm.requests[n]?.messages ?? []).flatMap(({ role, content }) => (role === "tool" ? [content ?? ""] : [])),
    offered: (name) => llm.requests[0]?.tools?.find((tool) => tool.function.name === name),
    async everythingShown(runId, by) {
      const stream = await gantry.fetch("GET", `/v1/runs/${runId}/events`, byKey(by));
      const parts = [await stream.text(), gantry.logged(), JSON.stringify(llm.requests)];
      for (const path of ["", "/events/list", "/confirmations"]) {
        parts.push((await get(`/v1/runs/${runId}${path}`, by)).text);
      }
      const { text, body } = await get(`/v1/runs/${runId}/trace`, by);
      parts.push(text);
      for (const { id } of body.steps) parts.push((await get(`/v1/runs/${runId}/trace/${id}`, by)).text);
      return parts.join("\n");
    },
    async close() {
      expect(await verifyLedger(gantry.database)).toEqual([]);
      await gantry.close();
      await llm.close();
      await rm(room, { recursive: true });
    },
  };
  return runs;
}
