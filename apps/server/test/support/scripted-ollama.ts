import { createServer, request as forward } from "node:http";
import type { AddressInfo } from "node:net";
import { type ScriptedLlm, startScriptedLlm } from "./scripted-llm.ts";

export interface OllamaModel {
  name: string;
  contextLength?: number;
  capabilities?: string[];
  size?: string;
}

export interface ScriptedOllama {
  url: string;
  port: number;
  llm: ScriptedLlm;
  models: OllamaModel[];
  /** Paths of all requests. */
  readonly seen: { path: string; headers: NodeJS.Dict<string | string[]> }[];
  /** Answers instead of the list. */
  list: { status: number; body: string } | "hang" | undefined;
  /** Requests whose client has left before the answer. */
  readonly left: number;
  close(): Promise<void>;
}

const familyOf = (name: string) => name.split(/[:.\d]/)[0] ?? name;

const wholeAnswer = {
  id: "chatcmpl-1",
  object: "chat.completion",
  choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

/** Answers as Ollama does: its own routes beside the OpenAI-compatible chat, which plays a script. */
export async function startScriptedOllama(models: OllamaModel[] = [], port = 0): Promise<ScriptedOllama> {
  const llm = await startScriptedLlm();
  let left = 0;
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://x").pathname;
    ollama.seen.push({ path, headers: request.headers });
    response.on("close", () => {
      if (!response.writableFinished) left++;
    });
    const json = (body: unknown, status = 200) =>
      response.writeHead(status, { "content-type": "application/json; charset=utf-8" }).end(JSON.stringify(body));
    if (path === "/") return void response.end("Ollama is running");
    if (path === "/api/version") return void json({ version: "0.12.6" });
    if (path === "/api/tags") {
      if (ollama.list === "hang") return;
      if (ollama.list) return void response.writeHead(ollama.list.status).end(ollama.list.body);
      return void json({ models: ollama.models.map(tagOf) });
    }
    if (path === "/v1/models") {
      const data = ollama.models.map(({ name }) => ({ id: name, object: "model", created: 1, owned_by: "library" }));
      return void json({ object: "list", data });
    }
    if (path === "/api/show") {
      let body = "";
      request.on("data", (chunk) => (body += chunk));
      request.on("end", () => {
        const asked = JSON.parse(body) as { model?: string; name?: string };
        const model = ollama.models.find(({ name }) => name === (asked.model ?? asked.name));
        if (model) json(showOf(model));
        else json({ error: "model not found" }, 404);
      });
      return;
    }
    if (path === "/v1/chat/completions") {
      let body = "";
      request.on("data", (chunk) => (body += chunk));
      request.on("end", () => {
        if (!JSON.parse(body).stream) return void json(wholeAnswer);
        const target = new URL(`${llm.url}/chat/completions`);
        const onward = forward(target, { method: "POST" }, (answer) => {
          response.writeHead(answer.statusCode ?? 500, answer.headers);
          answer.pipe(response);
        });
        onward.on("error", () => response.destroy());
        response.on("close", () => onward.destroy());
        onward.end(body);
      });
      return;
    }
    response.writeHead(404).end("404 page not found");
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  const bound = (server.address() as AddressInfo).port;
  const ollama: ScriptedOllama = {
    url: `http://127.0.0.1:${bound}`,
    port: bound,
    llm,
    models,
    seen: [],
    list: undefined,
    get left() {
      return left;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await llm.close();
    },
  };
  return ollama;
}

function tagOf({ name, size = "3.2B" }: OllamaModel) {
  return {
    name,
    model: name,
    modified_at: "2026-10-01T10:00:00.000000000Z",
    size: 2_019_393_189,
    digest: "a80c4f17acd55265feec403c7aef86be0c25983ab279d83f3bcd3abbcb5b8b72",
    details: { parent_model: "", format: "gguf", family: familyOf(name), parameter_size: size },
  };
}

function showOf({ name, contextLength = 131_072, capabilities = ["completion", "tools"], size = "3.2B" }: OllamaModel) {
  const family = familyOf(name);
  return {
    modelfile: "",
    parameters: "",
    template: "",
    details: { format: "gguf", family, families: [family], parameter_size: size, quantization_level: "Q4_K_M" },
    model_info: { "general.architecture": family, [`${family}.context_length`]: contextLength },
    capabilities,
  };
}
