import { type ProviderPreset, type PutProviderBody, providerNamePattern, providerTypes } from "@gantry/wire";
import type { Transaction } from "../../engines/database/database.ts";
import { type Fault, fault, type Issue, throwIfAny } from "../../kernel/errors.ts";
import type { Caller } from "../accounts/index.ts";
import { originOf, record } from "../audit/index.ts";
import { isAdmin } from "../models/index.ts";
import type { ProvidersContext } from "./context.ts";
import type { Provider, ProviderOwner } from "./provider.ts";
import { countLocked, deleteProviderRow, selectProvider, selectProviders, upsertProvider } from "./store.ts";

/** Of one owner. */
const maxProviders = 100;

export interface ListedProvider {
  provider: Provider;
  owner: ProviderOwner;
  /** Models that were imported from it and still exist. */
  models: number;
  /** Users see only name and type of the operator's. */
  isHidden: boolean;
}

export function ownerOf({ userId, username }: Pick<Caller, "userId" | "username">): ProviderOwner {
  return { id: userId, username, isOperator: false };
}

/** The caller's own providers, then the operator's. Those of the environment are only for admins. */
export async function listProviders(context: ProvidersContext, caller: Caller): Promise<ListedProvider[]> {
  const admin = isAdmin(caller);
  const [own, shared] = await Promise.all([listOf(context, ownerOf(caller)), listOf(context, context.operator)]);
  const visible = shared.filter(({ provider }) => admin || provider.source !== "environment");
  return [...own, ...visible.map((one) => ({ ...one, isHidden: !admin }))];
}

export async function listOf(context: ProvidersContext, owner: ProviderOwner): Promise<ListedProvider[]> {
  const [stored, counts] = await Promise.all([
    selectProviders(context.database.sql, owner.id),
    context.models.importedByProvider(owner.id),
  ]);
  const saved = new Set(stored.map(({ name }) => name));
  const fixed = owner.isOperator ? context.environment.filter(({ name }) => !saved.has(name)) : [];
  return [...stored, ...fixed]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((provider) => ({ provider, owner, models: counts.get(provider.name) ?? 0, isHidden: false }));
}

export async function readProvider(
  context: ProvidersContext,
  owner: ProviderOwner,
  name: string,
): Promise<ListedProvider> {
  const provider = await findProvider(context, owner, name);
  const counts = await context.models.importedByProvider(owner.id);
  return { provider, owner, models: counts.get(name) ?? 0, isHidden: false };
}

/** A stored provider wins over one of the environment. */
export async function findProvider(context: ProvidersContext, owner: ProviderOwner, name: string): Promise<Provider> {
  // Other text never reaches the database.
  if (!providerNamePattern.test(name)) throw providerNotFound();
  const stored = await selectProvider(context.database.sql, owner.id, name);
  const provider = stored ?? fixedProvider(context, owner, name);
  if (!provider) throw providerNotFound();
  return provider;
}

function fixedProvider({ environment }: ProvidersContext, { isOperator }: ProviderOwner, name: string) {
  return isOperator ? environment.find((one) => one.name === name) : undefined;
}

/** Creates a provider or replaces it. */
export async function putProvider(
  context: ProvidersContext,
  owner: ProviderOwner,
  name: string,
  body: PutProviderBody,
): Promise<{ listed: ListedProvider; created: boolean }> {
  throwIfAny([...nameIssues(name), ...connectionIssues(body)]);
  const { type, url, secret = null, headers = {}, query = {} } = body;
  const address = url === undefined ? null : context.upstreams.normalizeUrl(type, url);
  const { provider, created } = await context.database.transaction(async (tx) => {
    const before = await countLocked(tx, owner.id);
    const fixed = fixedProvider(context, owner, name);
    const values = { name, type, source: "saved" as const, url: address, secret, headers, query };
    const former = await selectProvider(tx, owner.id, name);
    const put = await upsertProvider(tx, owner.id, values);
    if (put.created && fixed) throw fromEnvironment(fixed, "Choose another name.");
    if (put.created && before >= maxProviders) {
      const msg = `The limit of ${maxProviders} providers is reached. Delete one first.`;
      throw fault("value_error", msg, { loc: ["path", "name"] });
    }
    await recordProvider(tx, "provider.put", owner, { before: former, after: put.provider });
    return put;
  });
  const counts = await context.models.importedByProvider(owner.id);
  return { listed: { provider, owner, models: counts.get(name) ?? 0, isHidden: false }, created };
}

/** Imported models stay. */
export async function deleteProvider(context: ProvidersContext, owner: ProviderOwner, name: string): Promise<void> {
  const provider = await findProvider(context, owner, name);
  if (provider.source === "environment") {
    throw fromEnvironment(provider, `Unset ${provider.secret} and restart the server to remove it.`);
  }
  if (provider.source === "found") {
    const msg = `The provider ${name} was found on the server's machine. Set GANTRY_FIND_MODELS=0 to stop looking for it.`;
    throw fault("conflict", msg, { loc: ["path", "name"] });
  }
  await context.database.transaction(async (tx) => {
    if (!(await deleteProviderRow(tx, owner.id, name))) throw providerNotFound();
    await recordProvider(tx, "provider.delete", owner, { before: provider });
  });
}

function recordProvider(
  tx: Transaction,
  action: "provider.put" | "provider.delete",
  owner: ProviderOwner,
  { before, after }: { before?: Provider | undefined; after?: Provider },
): Promise<void> {
  const { name = "" } = after ?? before ?? {};
  return record(tx, {
    action,
    object: { id: name, name },
    ownerId: owner.id,
    before: before && fieldsOf(before),
    after: after && fieldsOf(after),
  });
}

/** Of headers and parameters, only their names: their values may be credentials. */
function fieldsOf({ type, url, secret, headers, query }: Provider) {
  return { type, url: url && originOf(url), secret, headers: Object.keys(headers), query: Object.keys(query) };
}

function fromEnvironment({ name, secret }: Provider, advice: string): Fault {
  const msg = `The provider ${name} comes from ${secret} in the server's environment. ${advice}`;
  return fault("conflict", msg, { loc: ["path", "name"] });
}

function providerNotFound(): Fault {
  return fault("not_found", "Provider not found");
}

function nameIssues(name: string): Issue[] {
  if (providerNamePattern.test(name)) return [];
  const msg = "A provider's name has 1 to 40 characters of a-z, 0-9, ., _ and -, and begins with a letter or digit.";
  return [{ type: "value_error", loc: ["path", "name"], msg, input: name }];
}

function connectionIssues({ type, url, secret, headers = {}, query = {} }: PutProviderBody): Issue[] {
  const preset: ProviderPreset = providerTypes[type];
  const issues: Issue[] = [];
  if (url === undefined && preset.url === undefined) {
    const example = preset.urlExample === undefined ? "" : `, such as ${preset.urlExample}`;
    issues.push({ type: "missing", loc: ["body", "url"], msg: `${preset.label} needs an address${example}` });
  }
  // Behind an address of its own, such as a company's gateway, a vendor may need no key.
  const hasCredential = secret !== undefined || Object.keys({ ...headers, ...query }).length > 0;
  if (preset.key === "required" && url === undefined && !hasCredential) {
    const msg = `${preset.label} needs a key. Store it as a secret and give the secret's name`;
    issues.push({ type: "missing", loc: ["body", "secret"], msg });
  }
  return issues;
}
