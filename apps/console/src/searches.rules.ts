import type { DeliveryStatus, RunRecord } from "@gantry/sdk";
import { modelKinds } from "./pages/models/model-kinds.ts";
import { type DayRange, dayRange } from "./ui/day-range.rules.ts";

/**
 * What the part of an address behind the question mark means. What makes no sense there is left out, so that a page is
 * shown in its first state rather than not at all.
 */
type Given = Record<string, unknown>;

/** Where in a list, and what was looked for. */
interface ListSearch {
  page?: number;
  q?: string;
}

/** The first page needs no number. */
const isLaterPage = (page: unknown): page is number => Number.isInteger(page) && Number(page) > 1;

const oneOf = <T extends string>(values: readonly T[], given: unknown): T | undefined =>
  values.find((one) => one === given);

export function listSearch({ page, q }: Given): ListSearch {
  return { ...(isLaterPage(page) && { page }), ...(typeof q === "string" && q !== "" && { q }) };
}

/** `from`: where to go then. A place of the console and nothing else: a link must not lead from here to another site. */
export function signInSearch({ from }: Given): { from?: string } {
  return typeof from === "string" && /^\/(?![/\\])/.test(from) ? { from } : {};
}

export function modelsSearch(given: Given): ListSearch & { kind?: (typeof modelKinds)[number] } {
  const kind = oneOf(modelKinds, given.kind);
  return { ...listSearch(given), ...(kind && { kind }) };
}

/** Which tabs there are depends on the model. */
export function modelSearch({ tab }: Given): { tab?: string } {
  return typeof tab === "string" ? { tab } : {};
}

/** The days that are listed. `prediction`: the one that is looked at, and `at` the moment around which it ended. */
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

/** The first tab, which runs the agent, needs no name. */
export function agentSearch(given: Given): ListSearch & { tab?: (typeof agentTabs)[number] } {
  const tab = oneOf(agentTabs, given.tab);
  return { ...listSearch(given), ...(tab && { tab }) };
}

const runStatuses = ["pending", "running", "done", "error"] as const satisfies readonly RunRecord["status"][];

export function runsSearch(given: Given): ListSearch & { status?: (typeof runStatuses)[number] } {
  const status = oneOf(runStatuses, given.status);
  return { ...listSearch(given), ...(status && { status }) };
}

/** The folder that is open, and the file that is looked at. */
export function driveSearch(given: Given): ListSearch & { path?: string; file?: string } {
  const isPath = (text: unknown): text is string => typeof text === "string" && /^\/./.test(text);
  const { path, file } = given;
  return { ...listSearch(given), ...(isPath(path) && { path }), ...(isPath(file) && { file }) };
}

const deliveryStatuses = ["pending", "delivered", "failed", "gone"] as const satisfies readonly DeliveryStatus[];

/** What became of a webhook, beside where in the list; `q` is the id of a prediction. */
export function deliverySearch(given: Given): ListSearch & { status?: DeliveryStatus } {
  const status = oneOf(deliveryStatuses, given.status);
  return { ...listSearch(given), ...(status && { status }) };
}

/** A list of money and its days; `models` is the page of what was spent by model. */
export function moneySearch(given: Given): ListSearch & DayRange & { models?: number } {
  const { models } = given;
  return { ...listSearch(given), ...dayRange(given), ...(isLaterPage(models) && { models }) };
}
