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
import type { Context } from "../frame/command.ts";
import { wrongArguments } from "../frame/failure.ts";
import type { Output } from "../frame/output.ts";
import { setting } from "../frame/profiles.ts";
import { ask, askSecretly, isTerminal, readKeyFromStdin } from "../frame/terminal.ts";
import { importAll, printModels, printResults } from "./import.ts";
import { chosenFrom } from "./import-choices.rules.ts";
import { type ProviderAccess, providerAccess } from "./provider-access.ts";
import { printTest } from "./test.ts";

const allTypes = Object.keys(providerTypes) as ProviderType[];

const presetOf = (type: ProviderType): ProviderPreset => providerTypes[type];

interface Settings {
  type: ProviderType;
  /** Undefined: the type, or the first free name after it. */
  name: string | undefined;
  url: string | undefined;
  key: string | undefined;
}

export async function connectProvider(context: Context): Promise<number> {
  const settings = await readSettings(context);
  return connect(context.out, await providerAccess(context), settings, context.flag("json"));
}

/** Asks for what the options leave out, in a terminal. */
async function readSettings(context: Context): Promise<Settings> {
  const { flag, text } = context;
  const asks = isTerminal() && !flag("key-stdin");
  if (flag("key-stdin") && text("key-env") !== undefined) throw wrongArguments("Give either --key-stdin or --key-env.");
  const type = typeIn(text("type") ?? (asks ? await askType(context.out) : undefined));
  const preset = presetOf(type);
  const needsUrl = preset.url === undefined;
  const asksUrl = asks && text("url") === undefined && (needsUrl || text("type") === undefined);
  const url = text("url") ?? (asksUrl ? await ask(urlQuestion(preset), preset.url) : undefined);
  if (needsUrl && !url) throw wrongArguments(`${preset.label} needs an address: --url ${preset.urlExample ?? "URL"}`);
  return { type, name: text("name"), url: url || undefined, key: await readKey(context, preset, asks) };
}

const urlQuestion = ({ urlExample }: ProviderPreset) =>
  `Address${urlExample === undefined ? "" : `, for example ${urlExample}`}`;

function typeIn(text: string | undefined): ProviderType {
  if (text === undefined) throw wrongArguments(`Give the kind of the provider: --type ${allTypes.join("|")}`);
  const type = allTypes.find((known) => known === text) ?? allTypes[Number(text) - 1];
  if (type === undefined) throw wrongArguments(`Unknown type ${text}. Use one of: ${allTypes.join(", ")}`);
  return type;
}

function askType(out: Output): Promise<string> {
  for (const [n, type] of allTypes.entries()) {
    out.note(`${String(n + 1).padStart(3)}  ${type.padEnd(18)} ${presetOf(type).label}`);
  }
  return ask("What do you want to connect? Number or type", "ollama");
}

async function readKey(
  { flag, text }: Context,
  { key: need, label }: ProviderPreset,
  asks: boolean,
): Promise<string | undefined> {
  if (flag("key-stdin")) return (await readKeyFromStdin()) || undefined;
  const variable = text("key-env");
  if (variable !== undefined) {
    const key = setting(variable);
    if (key === undefined) throw wrongArguments(`${variable} is not set.`);
    return key;
  }
  if (need === "none" || (need === "optional" && !asks)) return undefined;
  if (asks) {
    const key = await askSecretly(need === "required" ? `API key of ${label}` : "API key (Enter for none)");
    if (key !== "" || need === "optional") return key || undefined;
  }
  throw wrongArguments(`${label} needs an API key. Pipe it in with --key-stdin, or name a variable with --key-env.`);
}

async function connect(
  out: Output,
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
  if (isJson) out.json({ provider, test, models });
  else {
    printTest(out, test);
    if (models.length > 0) printModels(out, models, asks);
  }
  if (!test.ok) {
    if (!isJson) out.note(`${name} is saved. Fix the problem, then run: gantry models test ${name}`);
    return 1;
  }
  if (asks) return askImport(out, providers, name, models);
  if (!isJson) out.line(`Import models with: gantry models import ${name} --all`);
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

async function askImport(
  out: Output,
  providers: Providers,
  name: string,
  models: readonly DiscoveredModel[],
): Promise<number> {
  const chosen = await askModels(out, models);
  if (chosen.length === 0) return 0;
  const results = await importAll(
    providers,
    name,
    chosen.map(({ id }) => ({ id })),
  );
  printResults(out, results);
  return results.some(({ outcome }) => outcome === "failed") ? 1 : 0;
}

async function askModels(out: Output, models: readonly DiscoveredModel[]): Promise<DiscoveredModel[]> {
  for (;;) {
    const typed = await ask("Models to import: numbers, ids, all, or Enter for none");
    const chosen = chosenFrom(models, typed);
    if (Array.isArray(chosen)) return chosen;
    out.note(`No model ${chosen.unknown}.`);
  }
}
