import type {
  ConfirmationStatus,
  DeliveryStatus,
  FileRecord,
  PredictionMode,
  PredictionStatus,
  RunRecord,
  SignInProblem,
} from "@gantry/sdk";
import { modelKinds } from "./pages/models/model-kinds.ts";
import { problemTexts } from "./pages/sign-in/sign-in-problem.ts";
import { type RangeName, type RangeSearch, rangeNames, rangeSearch } from "./ui/chart/range.rules.ts";
import { type DayRange, dayRange } from "./ui/day-range.rules.ts";
import { isRecord } from "./ui/json.rules.ts";

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

/** `problem`: why the sign-in at the provider failed. `from`: where to go after signing in. Only console paths are allowed, because a link must not redirect to another site. */
export function signInSearch({ from, problem }: Params): { from?: string; problem?: SignInProblem } {
  const known = oneOf(Object.keys(problemTexts) as SignInProblem[], problem);
  return {
    ...(typeof from === "string" && /^\/(?![/\\])/.test(from) && { from }),
    ...(known && { problem: known }),
  };
}

/** `request`: the query with which an app sent the browser. */
export function authorizeSearch({ request }: Params): { request?: string } {
  return typeof request === "string" && request !== "" ? { request } : {};
}

/** `key`: the key shown in the dialog. `new`: the form for a new one is open. */
export function keysSearch(params: Params): ListSearch & { key?: string; new?: true } {
  const { key, new: isNew } = params;
  return {
    ...listSearch(params),
    ...(typeof key === "string" && key !== "" && { key }),
    ...(isNew === true && { new: isNew }),
  };
}

export function modelsSearch(params: Params): ListSearch & { kind?: (typeof modelKinds)[number] } {
  const kind = oneOf(modelKinds, params.kind);
  return { ...listSearch(params), ...(kind && { kind }) };
}

/** `action`: the kind of object. Days are UTC. */
export type AuditSearch = ListSearch & DayRange & { action?: string; actor?: string };

export function auditSearch(params: Params): AuditSearch {
  const { action, actor } = params;
  return {
    ...listSearch(params),
    ...dayRange(params),
    ...(typeof action === "string" && /^[a-z_]{1,40}$/.test(action) && { action }),
    ...(typeof actor === "string" && actor !== "" && { actor }),
  };
}

/** `for`: an admin looks at the aliases or providers for everyone. */
export function sharedListSearch(params: Params): ListSearch & { for?: "everyone" } {
  const scope = oneOf(["everyone"] as const, params.for);
  return { ...listSearch(params), ...(scope && { for: scope }) };
}

/** `model`: the model of the new agent. `template`: the example that it starts from. */
export function newAgentSearch({ model, template }: Params): { model?: string; template?: string } {
  return {
    ...(typeof model === "string" && model !== "" && { model }),
    ...(typeof template === "string" && template !== "" && { template }),
  };
}

export interface ModelSearch {
  /** The available tabs depend on the model. */
  tab?: string;
  /** Changed values of the form: the input as it is sent. */
  f?: Record<string, unknown>;
  /** The prediction whose input fills the form. */
  from?: string;
  /** The prediction whose output is shown. */
  run?: string;
  view?: "chat" | "form";
  /** The conversation, which the tab keeps. */
  chat?: string;
  /** Of the charts. */
  range?: RangeName;
}

export function modelSearch({ tab, f, from, run, view, chat, range }: Params): ModelSearch {
  const shown = oneOf(["chat", "form"] as const, view);
  const charted = oneOf(rangeNames, range);
  const isId = (id: unknown): id is string => typeof id === "string" && /^[\w-]{1,100}$/.test(id);
  return {
    ...(typeof tab === "string" && { tab }),
    ...(isRecord(f) && { f }),
    ...(isId(from) && { from }),
    ...(isId(run) && { run }),
    ...(shown && { view: shown }),
    ...(isId(chat) && { chat }),
    ...(charted && { range: charted }),
  };
}

export const predictionStatuses = [
  "waiting",
  "running",
  "succeeded",
  "failed",
  "cancelled",
] as const satisfies readonly PredictionStatus[];

export const predictionModes = ["sync", "stream", "async", "agent"] as const satisfies readonly PredictionMode[];

const isName = (text: unknown): text is string => typeof text === "string" && text !== "";

/** Filters that the list of predictions and the charts of usage share. `key`: the id of an API key. */
export interface UsageFilters {
  model?: string;
  key?: string;
  mode?: PredictionMode;
}

function usageFilters(params: Params): UsageFilters {
  const mode = oneOf(predictionModes, params.mode);
  return {
    ...(isName(params.model) && { model: params.model }),
    ...(isName(params.key) && { key: params.key }),
    ...(mode && { mode }),
  };
}

/** `q`: part of an id. `agent` and `run`: ids. `before`: where an earlier search stopped. */
export interface PredictionsSearch extends ListSearch, UsageFilters, RangeSearch {
  status?: PredictionStatus;
  agent?: string;
  run?: string;
  before?: string;
}

export function predictionsSearch(params: Params): PredictionsSearch {
  const status = oneOf(predictionStatuses, params.status);
  const { agent, run, before } = params;
  const days = dayRange(params);
  const range = oneOf(rangeNames, params.range);
  return {
    ...listSearch(params),
    ...usageFilters(params),
    ...(range && !days.from && !days.to ? { range } : days),
    ...(status && { status }),
    ...(isName(agent) && { agent }),
    ...(isName(run) && { run }),
    ...searchBefore(before),
  };
}

function searchBefore(before: unknown): { before?: string } {
  return isName(before) && !Number.isNaN(Date.parse(before)) ? { before } : {};
}

/** `view`: how input and output are shown. */
export function predictionSearch({ view }: Params): { view?: "json" } {
  return view === "json" ? { view } : {};
}

const usageStacks = ["key", "mode", "status"] as const;

/** Charts are stacked by model unless `by` says otherwise. `prediction` and `at`: an address from before predictions had pages. */
export interface UsageSearch extends UsageFilters, RangeSearch {
  by?: (typeof usageStacks)[number];
  prediction?: string;
  at?: string;
}

export function usageSearch(params: Params): UsageSearch {
  const { prediction } = params;
  const by = oneOf(usageStacks, params.by);
  return {
    ...usageFilters(params),
    ...rangeSearch(params),
    ...(by && { by }),
    ...(isName(prediction) && { prediction }),
  };
}

export const fileOrigins = ["output", "uploaded", "link"] as const satisfies readonly FileRecord["origin"][];

/** `q`: part of a name or prompt. `file`: the id of the file in the dialog. `before`: where an earlier search stopped. */
export interface FilesSearch extends ListSearch {
  origin?: FileRecord["origin"];
  file?: string;
  before?: string;
}

export function filesSearch(params: Params): FilesSearch {
  const origin = oneOf(fileOrigins, params.origin);
  return {
    ...listSearch(params),
    ...(origin && { origin }),
    ...(isName(params.file) && { file: params.file }),
    ...searchBefore(params.before),
  };
}

const agentTabs = ["edit", "revisions", "runs", "schedules", "triggers", "share"] as const;

/** The Run tab is the default and stays out of the URL. `test`: the run shown beside the form. */
export function agentSearch(params: Params): ListSearch & { tab?: (typeof agentTabs)[number]; test?: string } {
  const tab = oneOf(agentTabs, params.tab);
  const { test } = params;
  return { ...listSearch(params), ...(tab && { tab }), ...(typeof test === "string" && test !== "" && { test }) };
}

/** Schedules are the default and stay out of the URL. */
export function automationsSearch(params: Params): { page?: number; tab?: "triggers" } {
  const { page, tab } = params;
  return { ...(isLaterPage(page) && { page }), ...(tab === "triggers" && { tab }) };
}

/** `asking`: the run waits for an answer. */
const runStatuses = ["asking", "pending", "running", "done", "error"] as const satisfies readonly (
  | RunRecord["status"]
  | "asking"
)[];

export interface RunsSearch extends ListSearch, DayRange {
  status?: (typeof runStatuses)[number];
  /** The id of an agent. */
  agent?: string;
  thread?: string;
}

/** `q`: part of the id of a run. */
export function runsSearch(params: Params): RunsSearch {
  const status = oneOf(runStatuses, params.status);
  const { agent, thread } = params;
  return {
    ...listSearch(params),
    ...dayRange(params),
    ...(status && { status }),
    ...(isName(agent) && { agent }),
    ...(isName(thread) && { thread }),
  };
}

/** `step`: the step of the trace that is shown. */
export function runSearch({ step }: Params): { step?: string } {
  return typeof step === "string" && step !== "" ? { step } : {};
}

const answers = ["approved", "denied", "expired"] as const satisfies readonly ConfirmationStatus[];

/** Pending questions are the default and stay out of the URL. */
export function approvalsSearch(params: Params): { page?: number; status?: (typeof answers)[number] } {
  const status = oneOf(answers, params.status);
  const { page } = params;
  return { ...(isLaterPage(page) && { page }), ...(status && { status }) };
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
