import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { verifyLedger } from "../../src/features/billing/index.ts";
import { type Answer, type GantryNode, startGantry } from "./gantry.ts";
import { agentModel, createModels } from "./models.ts";
import { type ScriptedLlm, startScriptedLlm } from "./scripted-llm.ts";
import { waitFor } from "./wait-for.ts";

export interface RunOptions {
  key?: string;
  headers?: Record<string, string>;
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads what came over the wire and states what it must be
export type Seen = any;

export interface RunsPlatform {
  readonly gantry: GantryNode;
  readonly llm: ScriptedLlm;
  /** Creates a published agent on the scripted model `admin/llm`; returns its id. */
  makeAgent(fields?: object, key?: string): Promise<string>;
  /** Starts a run and waits for its end, unless the body sets another wait. */
  run(agentId: string, body?: object, options?: RunOptions): Promise<Answer>;
  /** Starts a run without waiting; returns its id. */
  start(agentId: string, body?: object, options?: RunOptions): Promise<string>;
  read(runId: string, key?: string): Promise<Seen>;
  /** Waits for the run's end and returns the run. */
  ended(runId: string, key?: string): Promise<Seen>;
  events(runId: string, key?: string): Promise<Seen[]>;
  types(runId: string, key?: string): Promise<string[]>;
  /** Creates another text model on the scripted server, owned by the admin by default. */
  makeModel(name: string, manifest?: object, owner?: { name: string; key: string }): Promise<void>;
  newUser(options?: Parameters<GantryNode["newUser"]>[1]): Promise<{ name: string; key: string }>;
}

/** A server and a scripted model for the tests of one file. The ledger is verified after the last test. */
export function useRunsPlatform(model: object = {}): RunsPlatform {
  let gantry: GantryNode;
  let llm: ScriptedLlm;
  let agents = 0;
  let users = 0;

  beforeAll(async () => {
    gantry = await startGantry();
    llm = await startScriptedLlm();
    await platform.makeModel("llm", model);
  });
  afterAll(async () => {
    expect(await verifyLedger(gantry.database)).toEqual([]);
    await gantry.close();
    await llm.close();
  });
  beforeEach(() => {
    llm.script = () => ({ text: "done" });
    llm.requests.length = 0;
  });

  const platform: RunsPlatform = {
    get gantry() {
      return gantry;
    },
    get llm() {
      return llm;
    },
    async makeModel(name, manifest = {}, owner) {
      const model = agentModel(llm.url, { backend: { type: "openai-chat", url: llm.url, model: name }, ...manifest });
      await createModels(gantry, { [name]: model }, owner);
    },
    async makeAgent(fields = {}, key) {
      const who = key === undefined ? {} : { key };
      const json = { name: `Agent ${++agents}`, goal: "Do {{thing}}.", tools: [], model: "admin/llm", ...fields };
      const made = await gantry.call("POST", "/v1/agents", { json, ...who });
      expect(made.status, made.text).toBe(201);
      const published = await gantry.call("POST", `/v1/agents/${made.body.id}/publish`, { json: {}, ...who });
      expect(published.status, published.text).toBe(200);
      return made.body.id;
    },
    run: (agentId, body = {}, options = {}) =>
      gantry.call("POST", `/v1/agents/${agentId}/runs`, { json: { input: {}, wait: 20, ...body }, ...options }),
    async start(agentId, body = {}, options = {}) {
      const made = await platform.run(agentId, { wait: 0, ...body }, options);
      expect(made.status, made.text).toBe(201);
      return made.body.id;
    },
    async read(runId, key) {
      const answer = await gantry.call("GET", `/v1/runs/${runId}`, key === undefined ? {} : { key });
      expect(answer.status, answer.text).toBe(200);
      return answer.body;
    },
    async ended(runId, key) {
      const path = `/v1/runs/${runId}?wait=30`;
      let seen: Seen;
      await waitFor("the run to end", async () => {
        seen = (await gantry.call("GET", path, key === undefined ? {} : { key })).body;
        return seen.status === "done" || seen.status === "error";
      });
      return seen;
    },
    async events(runId, key) {
      const path = `/v1/runs/${runId}/events/list`;
      return (await gantry.call("GET", path, key === undefined ? {} : { key })).body.events;
    },
    types: async (runId, key) => (await platform.events(runId, key)).map((event) => event.type),
    async newUser(options = {}) {
      const name = `user-${++users}`;
      return { name, key: await gantry.newUser(name, options) };
    },
  };
  return platform;
}

export function gate<T = void>(): { promise: Promise<T>; open(value: T): void } {
  let open: (value: T) => void = () => {};
  const promise = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { promise, open };
}
