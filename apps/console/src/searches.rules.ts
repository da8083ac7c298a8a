import type { DeliveryStatus, RunRecord } from "@gantry/sdk";
import { modelKinds } from "./pages/models/model-kinds.ts";
import { type DayRange, dayRange } from "./ui/day-range.rules.ts";

/** Search parameters of a URL. Invalid ones are dropped, so that the page shows its default state instead of an error. */
type Given = Record<string, unknown>;

interface ListSearch {
  page?: number;
  q?: string;
}

/** Page 1 is the default and stays out of the URL. */
const isLaterPage = (page: unknown): page is number => Number.isInteger(page) && Number(page) > 1;

const oneOf = <T extends string>(values: readonly T[], given: unknown): T | undefined =>
  values.find((value) => value === given);

export function listSearch({ page, q }: Given): ListSearch {
  return { ...(isLaterPage(page) && { page }), ...(typeof q === "string" && q !== "" && { q }) };
}

/** `from`: where to go after signing in. Only console paths are allowed, because a link must not redirect to another site. */
export function signInSearch({ from }: Given): { from?: string } {
  return typeof from === "string" && /^\/(?![/\\])/.test(from) ? { from } : {};
}

export function modelsSearch(given: Given): ListSearch & { kind?: (typeof modelKinds)[number] } {
  const kind = oneOf(modelKinds, given.kind);
  return { ...listSearch(given), ...(kind && { kind }) };
}

/** The available tabs depend on the model. */
export function modelSearch({ tab }: Given): { tab?: string } {
  return typeof tab === "string" ? { tab } : {};
}

/** `prediction`: the prediction shown in the dialog. `at`: about when it ended. */
export function usageSearch(given: Given): ListSearch & DayRange & { prediction?: string; at?: string } {
  const { prediction, at } = given;
  return {
    ...listSearch(given),
    ...dayRange(given),
    ...(typeof prediction === "string" && prediction !== "" && { prediction }),
    ...(typeof at === "string" && !Number.isNaN(Date.parse(at)) && { at }),
  };
}

const agentTabs = ["edit", "revisions", "runs", "share"] as const;

/** The Run tab is the default and stays out of the URL. */
export function agentSearch(given: Given): ListSearch & { tab?: (typeof agentTabs)[number] } {
  const tab = oneOf(agentTabs, given.tab);
  return { ...listSearch(given), ...(tab && { tab }) };
}

const runStatuses = ["pending", "running", "done", "error"] as const satisfies readonly RunRecord["status"][];

export function runsSearch(given: Given): ListSearch & { status?: (typeof runStatuses)[number] } {
  const status = oneOf(runStatuses, given.status);
  return { ...listSearch(given), ...(status && { status }) };
}

/** `path`: the open folder. `file`: the file shown in the dialog. */
export function driveSearch(given: Given): ListSearch & { path?: string; file?: string } {
  const isPath = (text: unknown): text is string => typeof text === "string" && /^\/./.test(text);
  const { path, file } = given;
  return { ...listSearch(given), ...(isPath(path) && { path }), ...(isPath(file) && { file }) };
}

const deliveryStatuses = ["pending", "delivered", "failed", "gone"] as const satisfies readonly DeliveryStatus[];

/** `q`: the id of a prediction. */
export function deliverySearch(given: Given): ListSearch & { status?: DeliveryStatus } {
  const status = oneOf(deliveryStatuses, given.status);
  return { ...listSearch(given), ...(status && { status }) };
}

/** `models`: the page of the table "Spending by model". */
export function moneySearch(given: Given): ListSearch & DayRange & { models?: number } {
  const { models } = given;
  return { ...listSearch(given), ...dayRange(given), ...(isLaterPage(models) && { models }) };
}
