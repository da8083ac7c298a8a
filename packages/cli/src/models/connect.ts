import { parseArgs } from "node:util";
import {
  type DiscoveredModel,
  GantryError,
  type ProviderPreset,
  type ProviderRecord,
  type Providers,
  type ProviderType,
  type PutProviderBody,
  providerTypes,
} from "@gantry/sdk";
import { orPrintError, setting } from "../server-tools.ts";
import { importAll, printModels, printResults } from "./import.ts";
import { chosenFrom } from "./import-choices.rules.ts";
import { accessOptions, asking, notAsked, type ProviderAccess, printJson, providerAccess } from "./provider-access.ts";
import { ask, askSecretly, isTerminal, readStdin } from "./terminal.ts";
import { printTest } from "./test.ts";

const options = {
  ...accessOptions,
  type: { type: "string" },
  name: { type: "string" },
  url: { type: "string" },
  "key-stdin": { type: "boolean" },
  "key-env": { type: "string" },
} as const;

const allTypes = Object.keys(providerTypes) as ProviderType[];

const presetOf = (type: ProviderType): ProviderPreset => providerTypes[type];

interface Settings {
  type: ProviderType;
  /** Undefined: the type, or the first free name after it. */
  name: string | undefined;
  url: string | undefined;
  key: string | undefined;
}

export function connectProvider(args: readonly string[]): Promise<number> {
  return orPrintError(async () => {
    const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options });
    if (positionals.length > 0) throw new Error(`Unexpected argument ${positionals[0]}. Give the address as --url.`);
    const settings = await readSettings(values);
    const access = await providerAccess(values);
    return asking(() => connect(access, settings, values.json ?? false));
  }, notAsked);
}

type Values = ReturnType<typeof parseArgs<{ options: typeof options }>>["values"];

/** Asks for what the options leave out, in a terminal. */
async function readSettings(values: Values): Promise<Settings> {
  const asks = isTerminal() && !values["key-stdin"];
  if (values["key-stdin"] && values["key-env"] !== undefined) throw new Error("Give either --key-stdin or --key-env.");
  const type = typeIn(values.type ?? (asks ? await askType() : undefined));
  const preset = presetOf(type);
  const needsUrl = preset.url === undefined;
  const asksUrl = asks && values.url === undefined && (needsUrl || values.type === undefined);
  const url = values.url ?? (asksUrl ? await ask(urlQuestion(preset), preset.url) : undefined);
  if (needsUrl && !url) throw new Error(`${preset.label} needs an address: --url ${preset.urlExample ?? "URL"}`);
  return { type, name: values.name, url: url || undefined, key: await readKey(values, preset, asks) };
}

const urlQuestion = ({ urlExample }: ProviderPreset) =>
  `Address${urlExample === undefined ? "" : `, for example ${urlExample}`}`;

function typeIn(text: string | undefined): ProviderType {
  if (text === undefined) throw new Error(`Give the kind of the provider: --type ${allTypes.join("|")}`);
  const type = allTypes.find((known) => known === text) ?? allTypes[Number(text) - 1];
  if (type === undefined) throw new Error(`Unknown type ${text}. Use one of: ${allTypes.join(", ")}`);
  return type;
}

function askType(): Promise<string> {
  for (const [n, type] of allTypes.entries()) {
    console.error(`${String(n + 1).padStart(3)}  ${type.padEnd(18)} ${presetOf(type).label}`);
  }
  return ask("What do you want to connect? Number or type", "ollama");
}

async function readKey(
  values: Values,
  { key: need, label }: ProviderPreset,
  asks: boolean,
): Promise<string | undefined> {
  if (values["key-stdin"]) return (await readStdin()) || undefined;
  const variable = values["key-env"];
  if (variable !== undefined) {
    const key = setting(variable);
    if (key === undefined) throw new Error(`${variable} is not set.`);
    return key;
  }
  if (need === "none" || (need === "optional" && !asks)) return undefined;
  if (asks) {
    const key = await askSecretly(need === "required" ? `API key of ${label}` : "API key (Enter for none)");
    if (key !== "" || need === "optional") return key || undefined;
  }
  throw new Error(`${label} needs an API key. Pipe it in with --key-stdin, or name a variable with --key-env.`);
}

async function connect(
  { providers, secrets }: ProviderAccess,
  { type, name: given, url, key }: Settings,
  isJson: boolean,
): Promise<number> {
  const name = given ?? (await freeName(type, providers.each()));
  const existing = given === undefined ? undefined : await providerNamed(given, providers);
  // An unrelated secret of the same name is never replaced.
  const secret = existing?.secret ?? (key === undefined ? undefined : await freeName(name, secrets.each()));
  if (key !== undefined && secret !== undefined) await secrets.put(secret, key);
  const body: PutProviderBody = { type, ...(url && { url }), ...(secret !== undefined && { secret }) };
  const provider = await providers.put(name, body);
  const [test, models] = await Promise.all([providers.test(name), providers.discover(name).catch(nothingFound)]);
  const asks = isTerminal() && !isJson && test.ok && models.length > 0;
  if (isJson) printJson({ provider, test, models });
  else {
    printTest(test);
    if (models.length > 0) printModels(models, asks);
  }
  if (!test.ok) {
    if (!isJson) console.error(`${name} is saved. Fix the problem, then run: gantry models test ${name}`);
    return 1;
  }
  if (asks) return askImport(providers, name, models);
  if (!isJson) console.log(`Import models with: gantry models import ${name} --all`);
  return 0;
}

/** The test has said what is wrong. */
function nothingFound(error: unknown): DiscoveredModel[] {
  if (error instanceof GantryError) return [];
  throw error;
}

async function freeName(base: string, all: AsyncIterable<{ name: string }>): Promise<string> {
  const taken = new Set<string>();
  for await (const { name } of all) taken.add(name);
  let name = base;
  for (let n = 2; taken.has(name); n++) name = `${base}-${n}`;
  return name;
}

function providerNamed(name: string, providers: Providers): Promise<ProviderRecord | undefined> {
  return providers.get(name).catch((error: unknown) => {
    if (error instanceof GantryError && error.status === 404) return undefined;
    throw error;
  });
}

async function askImport(providers: Providers, name: string, models: readonly DiscoveredModel[]): Promise<number> {
  const chosen = await askModels(models);
  if (chosen.length === 0) return 0;
  const results = await importAll(
    providers,
    name,
    chosen.map(({ id }) => ({ id })),
  );
  printResults(results);
  return results.some(({ outcome }) => outcome === "failed") ? 1 : 0;
}

async function askModels(models: readonly DiscoveredModel[]): Promise<DiscoveredModel[]> {
  for (;;) {
    const typed = await ask("Models to import: numbers, ids, all, or Enter for none");
    const chosen = chosenFrom(models, typed);
    if (Array.isArray(chosen)) return chosen;
    console.error(`No model ${chosen.unknown}.`);
  }
}
