import { type ProviderType, providerTypes } from "@gantry/wire";
import type { Config } from "../config/config.ts";
import type { Database } from "../engines/database/database.ts";
import type { LocalModel } from "../engines/models/builtin/text-manifests.ts";
import {
  backendFor,
  chooseChatModel,
  findLocal,
  type LocalPort,
  type LocalServer,
  usualPorts,
} from "../engines/models/providers/providers.ts";
import { createNet } from "../engines/net/create-net.ts";
import { type FoundServer, foundAddresses, storeFound } from "../features/providers/index.ts";

type FindConfig = Pick<Config, "DATABASE_URL" | "GANTRY_FIND_MODELS" | "GANTRY_ROLE" | "OLLAMA_HOST" | "PORT">;

/** With an external database, servers on other machines share what one of them would find. */
function looksForModels({ GANTRY_FIND_MODELS, GANTRY_ROLE, DATABASE_URL }: FindConfig): boolean {
  return GANTRY_ROLE === "all" && (GANTRY_FIND_MODELS ?? DATABASE_URL === undefined);
}

/** Undefined if this server does not look. Begins at once, beside the rest of the start, and takes a second at most. */
export function startFinding(config: FindConfig, signal?: AbortSignal): Promise<LocalServer[] | undefined> {
  const finding = looksForModels(config) ? findModels(config, signal) : Promise.resolve(undefined);
  // Without a model the server still starts.
  return finding.catch(() => []);
}

async function findModels(config: FindConfig, signal = new AbortController().signal): Promise<LocalServer[]> {
  const ports = portsToTry(config);
  const exempt = ports.map(({ port }) => `http://127.0.0.1:${port}`);
  const net = createNet({ allowPrivateNetwork: false, exempt });
  try {
    return await findLocal(net, { ports, signal });
  } finally {
    await net.close();
  }
}

/** Never Gantry's own port, which is llama.cpp's default too. */
export function portsToTry({ OLLAMA_HOST, PORT }: Pick<Config, "OLLAMA_HOST" | "PORT">): LocalPort[] {
  const ollamaPort = portOnThisMachine(OLLAMA_HOST);
  return usualPorts
    .map((one) => (one.type === "ollama" && ollamaPort !== undefined ? { ...one, port: ollamaPort } : one))
    .filter(({ port }) => port !== PORT);
}

const ownHosts = new Set(["", "127.0.0.1", "localhost", "0.0.0.0", "[::1]", "[::]"]);

/** `OLLAMA_HOST` is a host, a port or both, with or without a scheme. */
function portOnThisMachine(host: string | undefined): number | undefined {
  const [, name = "", port] = /^(?:https?:\/\/)?(\[[0-9a-f:]*\]|[^:/]*)(?::(\d{1,5}))?\/?$/i.exec(host ?? "") ?? [];
  const number = Number(port);
  return port !== undefined && ownHosts.has(name.toLowerCase()) && number > 0 && number < 65_536 ? number : undefined;
}

/** Addresses of servers on this machine, also of those that an earlier start has found. */
export async function callableHere(database: Database, found: LocalServer[] | undefined): Promise<FoundServer[]> {
  return found ? [...(await foundAddresses(database)), ...found] : [];
}

/** Stores what was found as providers of the operator, and chooses the model of the built-in text models. */
export async function useFound(
  config: Pick<Config, "ANTHROPIC_API_KEY" | "GANTRY_LLM_URL" | "GANTRY_LLM_MODEL">,
  database: Database,
  found: LocalServer[] | undefined,
): Promise<{ model: LocalModel | undefined; lines: string[] }> {
  if (!found) return { model: undefined, lines: [] };
  await storeFound(database, found);
  const wanted = config.GANTRY_LLM_URL === undefined ? config.GANTRY_LLM_MODEL : undefined;
  const model = chooseLocal(found, wanted);
  const usesDefault = config.ANTHROPIC_API_KEY === undefined && config.GANTRY_LLM_URL === undefined;
  return { model, lines: foundLines(found, model, { usesDefault, wanted }) };
}

/** The model of a found server that `anthropic/default` and `gantry/text` use. */
export function chooseLocal(
  servers: readonly LocalServer[],
  wanted: string | undefined,
): (LocalModel & { server: LocalServer }) | undefined {
  for (const chosen of [wanted, undefined]) {
    for (const server of servers) {
      const model = chosen === undefined ? chooseChatModel(server.models) : namedModel(server, chosen);
      if (!model) continue;
      return {
        server,
        label: labelOf(server.type),
        backend: backendFor(server, model),
        contextWindow: model.context_window,
        sizeInBillions: model.model_size_in_billions,
      };
    }
  }
  return undefined;
}

/** Ollama's models have a tag, which people leave out. */
function namedModel({ models }: LocalServer, name: string) {
  return models.find(({ id, kind }) => kind === "text" && (id === name || id === `${name}:latest`));
}

export function labelOf(type: ProviderType): string {
  return providerTypes[type].label;
}

const pullHints: Partial<Record<LocalServer["type"], string>> = {
  ollama: "Pull one with `ollama pull llama3.2`",
  lmstudio: "Download one with `lms get`",
};

/** What the start prints. */
export function foundLines(
  servers: readonly LocalServer[],
  chosen: ReturnType<typeof chooseLocal>,
  { usesDefault, wanted }: { usesDefault: boolean; wanted: string | undefined },
): string[] {
  const lines = servers.map((server) => {
    const { url, models } = server;
    const found = `Found ${labelOf(server.type)} at ${url}`;
    if (models.length === 0) {
      return `${found}, without models. ${pullHints[server.type] ?? "Load one"}, then restart Gantry.`;
    }
    const count = `with ${models.length} ${models.length === 1 ? "model" : "models"}`;
    if (chosen?.server !== server) return `${found} ${count}.`;
    const users = usesDefault ? "anthropic/default and gantry/text use" : "gantry/text uses";
    return `${found} ${count}: ${users} ${chosen.backend.model}.`;
  });
  if (servers.every(({ models }) => models.length === 0)) return lines;
  const { model = "" } = chosen?.backend ?? {};
  if (wanted !== undefined && usesDefault && model !== wanted && model !== `${wanted}:latest`) {
    lines.push(`GANTRY_LLM_MODEL names ${wanted}, which no server on this machine has.`);
  }
  lines.push("Import more in the console under Models → Connect a model.");
  return lines;
}
