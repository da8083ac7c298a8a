import { type DeliveryStatus, type ProviderType, providerTypes, type RunRecord } from "@gantry/sdk";
import { modelKinds } from "./pages/models/model-kinds.ts";
import { type DayRange, dayRange } from "./ui/day-range.rules.ts";

/** Search parameters of a URL. Invalid ones are dropped, so that the page shows its default state instead of an error. */
type Params = Record<string, unknown>;

interface ListSearch {
  page?: number;
  q?: string;
}

/** Page 1 is the default and stays out of the URL. */
const isLaterPage = (page: unknown): page is number => Number.isInteger(page) && Number(page) > 1;

const oneOf = <T extends string>(values: readonly T[], value: unknown): T | undefined =>
  values.find((known) => known === value);

export function listSearch({ page, q }: Params): ListSearch {
  return { ...(isLaterPage(page) && { page }), ...(typeof q === "string" && q !== "" && { q }) };
}

/** `from`: where to go after signing in. Only console paths are allowed, because a link must not redirect to another site. */
export function signInSearch({ from }: Params): { from?: string } {
  return typeof from === "string" && /^\/(?![/\\])/.test(from) ? { from } : {};
}

export function modelsSearch(params: Params): ListSearch & { kind?: (typeof modelKinds)[number] } {
  const kind = oneOf(modelKinds, params.kind);
  return { ...listSearch(params), ...(kind && { kind }) };
}

/** `for`: an admin looks at the aliases or providers for everyone. */
export function sharedListSearch(params: Params): ListSearch & { for?: "everyone" } {
  const scope = oneOf(["everyone"] as const, params.for);
  return { ...listSearch(params), ...(scope && { for: scope }) };
}

export interface ConnectSearch {
  /** The kind of a new provider. */
  type?: ProviderType;
  /** A saved provider, whose models are shown. */
  provider?: string;
  /** Shows its settings instead. */
  edit?: true;
  /** Endpoint ids of the models that were imported last. */
  imported?: string[];
  /** An admin offers the models to everyone. */
  for?: "everyone";
}

/** The step of the page "Connect a model". */
export function connectSearch({ type, provider, edit, imported, for: scope }: Params): ConnectSearch {
  const kind = oneOf(Object.keys(providerTypes) as ProviderType[], type);
  const isNamed = typeof provider === "string" && provider !== "";
  const ids = Array.isArray(imported)
    ? imported.filter((id) => typeof id === "string" && /^[^/]+\/[^/]+$/.test(id))
    : [];
  return {
    ...(isNamed ? { provider } : kind && { type: kind }),
    ...(isNamed && edit === true && { edit }),
    ...(isNamed && ids.length > 0 && { imported: ids }),
    ...(scope === "everyone" && { for: scope }),
  };
}

/** `model`: the model of the new agent. */
export function newAgentSearch({ model }: Params): { model?: string } {
  return typeof model === "string" && model !== "" ? { model } : {};
}

/** The available tabs depend on the model. */
export function modelSearch({ tab }: Params): { tab?: string } {
  return typeof tab === "string" ? { tab } : {};
}

/** `prediction`: the prediction shown in the dialog. `at`: about when it ended. */
export function usageSearch(params: Params): ListSearch & DayRange & { prediction?: string; at?: string } {
  const { prediction, at } = params;
  return {
    ...listSearch(params),
    ...dayRange(params),
    ...(typeof prediction === "string" && prediction !== "" && { prediction }),
    ...(typeof at === "string" && !Number.isNaN(Date.parse(at)) && { at }),
  };
}

const agentTabs = ["edit", "revisions", "runs", "share"] as const;

/** The Run tab is the default and stays out of the URL. */
export function agentSearch(params: Params): ListSearch & { tab?: (typeof agentTabs)[number] } {
  const tab = oneOf(agentTabs, params.tab);
  return { ...listSearch(params), ...(tab && { tab }) };
}

const runStatuses = ["pending", "running", "done", "error"] as const satisfies readonly RunRecord["status"][];

export function runsSearch(params: Params): ListSearch & { status?: (typeof runStatuses)[number] } {
  const status = oneOf(runStatuses, params.status);
  return { ...listSearch(params), ...(status && { status }) };
}

/** `path`: the open folder. `file`: the file shown in the dialog. */
export function driveSearch(params: Params): ListSearch & { path?: string; file?: string } {
  const isPath = (text: unknown): text is string => typeof text === "string" && /^\/./.test(text);
  const { path, file } = params;
  return { ...listSearch(params), ...(isPath(path) && { path }), ...(isPath(file) && { file }) };
}

const deliveryStatuses = ["pending", "delivered", "failed", "gone"] as const satisfies readonly DeliveryStatus[];

/** `q`: the id of a prediction. */
export function deliverySearch(params: Params): ListSearch & { status?: DeliveryStatus } {
  const status = oneOf(deliveryStatuses, params.status);
  return { ...listSearch(params), ...(status && { status }) };
}

/** `models`: the page of the table "Spending by model". */
export function moneySearch(params: Params): ListSearch & DayRange & { models?: number } {
  const { models } = params;
  return { ...listSearch(params), ...dayRange(params), ...(isLaterPage(models) && { models }) };
}
