import type { ImportBody, ImportChoice, ImportResult, Manifest } from "@gantry/wire";
import { fault } from "../../kernel/errors.ts";
import { namesFor } from "../models/index.ts";
import type { ProvidersContext } from "./context.ts";
import { manifestFor, priceRefusal } from "./manifest.rules.ts";
import type { Offer, Provider, ProviderOwner } from "./provider.ts";
import { findProvider } from "./providers.ts";
import { completed, namingOf, offersOf } from "./use-provider.ts";

/** One model to create or update. `offer` is missing if the upstream does not serve it. */
interface Wanted {
  choice: ImportChoice;
  name: string;
  offer: Offer | undefined;
  isImported: boolean;
}

/** Creates the chosen models. Without a choice, updates all that were imported and still exist. */
export async function importModels(
  context: ProvidersContext,
  owner: ProviderOwner,
  name: string,
  { models: choices }: ImportBody,
  options: { callerId: string; signal: AbortSignal },
): Promise<ImportResult[]> {
  refuseRepeats(choices ?? []);
  return context.imports(owner.id, () => importAll(context, owner, name, choices, options), options.signal);
}

async function importAll(
  context: ProvidersContext,
  owner: ProviderOwner,
  name: string,
  choices: readonly ImportChoice[] | undefined,
  options: { callerId: string; signal: AbortSignal },
): Promise<ImportResult[]> {
  const provider = await findProvider(context, owner, name);
  const offers = await offersOf(context, owner, provider, options);
  const wanted = await wantedModels(context, owner, provider, { choices, offers });
  const results: ImportResult[] = [];
  for (const one of wanted) {
    options.signal.throwIfAborted();
    const offer = one.offer && (await completed(context, provider, one.offer, options));
    results.push(await importWanted(context, owner, provider, { ...one, offer }));
  }
  return results;
}

function refuseRepeats(choices: readonly ImportChoice[]): void {
  const names = new Set<string>();
  for (const [at, { id, name }] of choices.entries()) {
    const key = JSON.stringify([id, name]);
    if (names.has(key)) throw fault("value_error", "This model is listed twice", { loc: ["body", "models", at] });
    names.add(key);
  }
}

async function wantedModels(
  { models }: ProvidersContext,
  owner: ProviderOwner,
  provider: Provider,
  { choices, offers }: { choices: readonly ImportChoice[] | undefined; offers: readonly Offer[] },
): Promise<Wanted[]> {
  const imported = await models.importedModels(owner.id, provider.name);
  const byId = new Map(offers.map((offer) => [offer.model.id, offer]));
  if (!choices) {
    return imported.map(({ name, upstreamId }) => ({
      choice: { id: upstreamId },
      name,
      offer: byId.get(upstreamId),
      isImported: true,
    }));
  }
  const names = namesFor(offers.map(namingOf), imported);
  return choices.map((choice) => {
    const name = choice.name ?? names.get(choice.id) ?? choice.id;
    const isImported = imported.some((one) => one.upstreamId === choice.id && one.name === name);
    return { choice, name, offer: byId.get(choice.id), isImported };
  });
}

async function importWanted(
  { models }: ProvidersContext,
  owner: ProviderOwner,
  provider: Provider,
  { choice, name, offer, isImported }: Wanted,
): Promise<ImportResult> {
  if (!offer) {
    const base = { id: choice.id, kept: [] };
    if (isImported) {
      return { ...base, endpoint_id: `${owner.username}/${name}`, outcome: "gone", message: null };
    }
    const message = `The provider ${provider.name} does not serve "${choice.id}".`;
    return { ...base, endpoint_id: null, outcome: "failed", message };
  }
  return models.importModel({
    origin: { ownerId: owner.id, owner: owner.username, provider: provider.name, upstreamId: choice.id },
    name,
    manifest: (before) => manifestFor(provider, owner, offer, before),
    chosen: chosenFields(choice),
    refusal: (manifest) => priceRefusal(provider, owner, manifest),
  });
}

function chosenFields({ title, pricing, visibility, capacity }: ImportChoice): Partial<Manifest> {
  return {
    ...(title !== undefined && { title }),
    ...(pricing !== undefined && { pricing: pricing as Manifest["pricing"] }),
    ...(visibility !== undefined && { visibility }),
    ...(capacity !== undefined && { capacity }),
  };
}
