import type { UpstreamModel } from "@gantry/wire";
import { isRecord } from "../../../../kernel/is-record.ts";
import { modalitiesFrom, modelOf, textsFrom } from "../fields.ts";
import { kindByName } from "../kind-by-name.rules.ts";
import { ProviderFailure } from "../provider-failure.ts";
import type { UpstreamCalls } from "../upstream-calls.ts";
import { cursorFrom, type Entry, entriesOf, modelsOf, readPages } from "./read-list.ts";

/** Later versions of the data plane no longer list deployments. */
const deploymentsVersion = "2023-03-15-preview";

/**
 * The deployments of a resource, whose names are what calls need. Azure also lists models, but those may not be deployed,
 * and a deployment may have any name.
 */
export async function listAzure(calls: UpstreamCalls): Promise<UpstreamModel[]> {
  const json = await deploymentsOf(calls);
  return modelsOf(entriesOf(calls, json, "data"), (entry, id) => {
    if (typeof entry.status === "string" && entry.status !== "succeeded") return undefined;
    const model = typeof entry.model === "string" ? entry.model : id;
    const kind = kindByName(model);
    return kind && modelOf(id, kind, { description: model === id ? "" : `Deployment of ${model}` });
  });
}

async function deploymentsOf(calls: UpstreamCalls): Promise<unknown> {
  try {
    const query = { "api-version": deploymentsVersion };
    return (await calls.call(`${calls.root}/openai/deployments`, { query, keepsQuery: true })).json;
  } catch (error) {
    const isGone = error instanceof ProviderFailure && (error.reason === "not_found" || error.reason === "refused");
    throw isGone ? calls.fail("nothing_to_list") : error;
  }
}

const runtimeHost = /^bedrock-runtime\.([a-z0-9-]+)\.amazonaws\.com$/;

/** Bedrock has two addresses for calls. One lists models as OpenAI does, the other in AWS's own API. */
export async function listBedrock(calls: UpstreamCalls): Promise<UpstreamModel[]> {
  const region = runtimeHost.exec(URL.parse(calls.root)?.hostname ?? "")?.[1];
  if (region !== undefined) return listFoundationModels(calls, `https://bedrock.${region}.amazonaws.com`);
  const { json } = await calls.call(`${calls.root}/v1/models`);
  return modelsOf(entriesOf(calls, json, "data"), (_entry, id) => {
    const kind = kindByName(id);
    return kind === "text" ? modelOf(id, kind) : undefined;
  });
}

/** Their models are reachable only through Converse, which Gantry does not speak. */
const converseOnly = new Set(["AI21 Labs", "Amazon", "Cohere", "Meta", "Stability AI", "TwelveLabs", "Writer"]);

async function listFoundationModels(calls: UpstreamCalls, control: string): Promise<UpstreamModel[]> {
  const { json } = await calls.call(`${control}/foundation-models`, { query: { byOutputModality: "TEXT" } });
  const profiles = await profilesOf(calls, control);
  const read = (entry: Entry, id: string): UpstreamModel | undefined => {
    const lifecycle = isRecord(entry.modelLifecycle) ? entry.modelLifecycle.status : undefined;
    if (lifecycle === "LEGACY" || converseOnly.has(String(entry.providerName)) || kindByName(id) !== "text") return;
    const types = textsFrom(entry.inferenceTypesSupported);
    const callable = types.length === 0 || types.includes("ON_DEMAND") ? id : profiles.get(id);
    if (callable === undefined) return undefined;
    return modelOf(callable, "text", {
      title: entry.modelName,
      input_modalities: modalitiesFrom(entry.inputModalities),
      output_modalities: modalitiesFrom(entry.outputModalities),
    });
  };
  return modelsOf(entriesOf(calls, json, "modelSummaries"), read, "modelId");
}

/**
 * Newer models are called by the id of an inference profile, such as `us.anthropic.claude-…`. A key that may not list
 * profiles sees the other models.
 */
async function profilesOf(calls: UpstreamCalls, control: string): Promise<Map<string, string>> {
  const first = { maxResults: "1000", type: "SYSTEM_DEFINED" };
  const pages = readPages(calls, `${control}/inference-profiles`, first, "inferenceProfileSummaries", (page) => {
    const token = cursorFrom(page.nextToken);
    return token === undefined ? undefined : { ...first, nextToken: token };
  });
  const entries = await pages.catch((error: unknown) => {
    if (error instanceof ProviderFailure) return [];
    throw error;
  });
  const profiles = new Map<string, string>();
  for (const { inferenceProfileId: profile, models } of entries) {
    if (typeof profile !== "string") continue;
    for (const model of Array.isArray(models) ? models.filter(isRecord) : []) {
      const id = String(model.modelArn ?? "").split("foundation-model/")[1];
      // A global profile may leave the region, so a regional one is better.
      if (id !== undefined && (!profiles.has(id) || profiles.get(id)?.startsWith("global."))) profiles.set(id, profile);
    }
  }
  return profiles;
}
