import type { ProviderType } from "@gantry/wire";
import { isRecord } from "../../../../kernel/is-record.ts";
import type { UpstreamCalls, UpstreamReply } from "../upstream-calls.ts";

/** What servers write into `owned_by` of their OpenAI-compatible lists. */
const owners: Readonly<Record<string, ProviderType>> = {
  library: "ollama",
  llamacpp: "llamacpp",
  organization_owner: "lmstudio",
  sglang: "sglang",
  vllm: "vllm",
};

/** The kind of a server, by a list that most of them have. Undefined if nothing gives it away. */
export function serverOf({ json, headers }: UpstreamReply): ProviderType | undefined {
  if (headers.server === "llama.cpp") return "llamacpp";
  const data = isRecord(json) && Array.isArray(json.data) ? json.data : [];
  for (const entry of data.slice(0, 20)) {
    const owner = isRecord(entry) && typeof entry.owned_by === "string" ? entry.owned_by : "";
    if (Object.hasOwn(owners, owner)) return owners[owner];
  }
  return undefined;
}

/** The OpenAI-compatible list of a server of this type, or of one that does not tell. */
export async function listOfType(calls: UpstreamCalls): Promise<UpstreamReply> {
  const reply = await calls.call(`${calls.api}/models`);
  const found = serverOf(reply);
  if (found !== undefined && found !== calls.type) throw calls.fail("other_server", { found });
  return reply;
}
