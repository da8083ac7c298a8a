import { inTurn, type LlmAnswer, type ScriptedLlm } from "../../../server/test/support/scripted-llm.ts";

interface CallOptions {
  key?: string;
  json?: unknown;
  form?: Record<string, string | Blob>;
}

// biome-ignore lint/suspicious/noExplicitAny: the sample reads the fields that it needs
type Json = any;

/** Calls a Gantry as admin, unless a key is given. */
export type Call = (
  method: string,
  path: string,
  options?: CallOptions,
) => Promise<{ status: number; text: string; body: Json }>;

export interface SampleIds {
  prediction: string;
  drive: string;
  server: string;
  agent: string;
  /** A run that has ended, and one that waits for an approval. */
  run: string;
  waiting: string;
}

/** Short names for the calls that create sample data. Each throws if the answer is not a success. */
export function sampleClient(call: Call) {
  const send = async (method: string, path: string, options: CallOptions, expected = [200, 201, 204]) => {
    const { status, text, body } = await call(method, path, options);
    if (!expected.includes(status)) throw new Error(`${method} ${path}: ${status} ${text}`);
    return body;
  };
  const put = (path: string, json: object) => send("PUT", path, { json });
  const post = (path: string, json: object, key?: string) => send("POST", path, { json, ...(key && { key }) });
  const form = (path: string, fields: Record<string, string>, expected?: number[]) =>
    send("POST", path, { form: fields }, expected);
  const stream = (model: string, fields: Record<string, string>) =>
    call("POST", `/api/v1/${model}/predict/stream/`, { form: fields });
  return {
    put,
    post,
    form,
    stream,
    upload: (drive: string, path: string, text: string) =>
      send("POST", `/v1/drives/${drive}/files`, { form: { path, file: new Blob([text]) } }),
    predict: (model: string, fields: Record<string, string>, expected?: number[]) =>
      form(`/api/v1/${model}/predict`, fields, expected),
    /** Streams one answer after the other; returns the ids. */
    async predictAll(model: string, prompts: readonly string[]): Promise<string[]> {
      const ids: string[] = [];
      for (const prompt of prompts) {
        const { text } = await stream(model, { prompt });
        ids.push(/pred_[0-9a-z]{26}/.exec(text)?.[0] ?? "");
      }
      return ids;
    },
    /** Returns a key of the new user. */
    async newUser(username: string, amount: number): Promise<string> {
      await post("/api/v2/admin/users", { username });
      await post(`/api/v2/admin/users/${username}/credits`, { amount, reason: "welcome" });
      return (await post(`/api/v2/admin/users/${username}/keys`, {})).key;
    },
    /** Creates and publishes an agent; returns its id. */
    async agent(fields: object, key?: string): Promise<string> {
      const { id } = await post("/v1/agents", fields, key);
      await post(`/v1/agents/${id}/publish`, {}, key);
      return id;
    },
    /** Sends one input after the other to a thread. */
    async chat(
      agent: string,
      thread_id: string,
      inputs: readonly object[],
      llm: ScriptedLlm,
      answers: readonly LlmAnswer[],
    ): Promise<void> {
      llm.script = inTurn(...answers);
      for (const input of inputs) await post(`/v1/agents/${agent}/runs`, { input, thread_id, wait: 30 });
    },
    /** Runs an agent until it ends or asks; returns the id of the run. */
    async run(agent: string, input: object, llm: ScriptedLlm, answers: readonly LlmAnswer[]): Promise<string> {
      llm.script = inTurn(...answers);
      return (await send("POST", `/v1/agents/${agent}/runs`, { json: { input, wait: 30 } }, [200, 201, 202])).id;
    },
  };
}
