import type { SeriesRecord } from "@gantry/wire";
import type { Database, Transaction } from "../../engines/database/database.ts";
import { fault } from "../../kernel/errors.ts";
import { momentOfMicros, readFromOneSnapshot, selectMarks, shownMoment } from "../billing/index.ts";
import { type Line, linesOfSamples, linesOfUsage, totalOf, unitOf } from "./assemble.rules.ts";
import { needsRows, planSteps, refuseForService, type SeriesRequest, type Steps } from "./plan.rules.ts";
import { type SampledMetric, selectSamples } from "./samples.ts";
import {
  selectFromRows,
  selectFromSums,
  selectKeyNames,
  selectSharedMarks,
  type UsageRequest,
  type Whose,
} from "./usage-store.ts";

export interface Series {
  /** Figures over time, from one snapshot. */
  read(whose: Whose, request: SeriesRequest): Promise<SeriesRecord>;
}

export function openSeries({ database }: { database: Database }): Series {
  return {
    read: (whose, request) =>
      database.transaction(async (tx) => {
        await readFromOneSnapshot(tx);
        return isSampled(request) ? readSamples(tx, whose, request) : readUsage(tx, whose, request as UsageRequest);
      }),
  };
}

const isSampled = (request: SeriesRequest): request is SeriesRequest & { metric: SampledMetric } =>
  request.metric === "queue" || request.metric === "running" || request.metric === "nodes";

async function readUsage(tx: Transaction, whose: Whose, request: UsageRequest): Promise<SeriesRecord> {
  const isService = whose === "everyone";
  const marks = isService ? await selectSharedMarks(tx) : await selectMarks(tx, whose.userId);
  const steps = planSteps(request, marks.now);
  if (isService) refuseForService({ ...request, step: steps.step });
  const byRows = !isService && needsRows(request, steps, whose.onlyKeyIds);
  const selection = { whose, request, steps, marks };
  const cells = byRows ? await selectFromRows(tx, selection) : await selectFromSums(tx, selection);
  const lines = linesOfUsage(request, steps, cells, byRows ? marks.horizon : 0);
  const total = totalOf(request, lines);
  const named = isService || request.groupBy !== "key" ? lines : await withKeyNames(tx, whose.userId, lines);
  return recordOf(request, steps, named, total);
}

/** The rest of the groups has the name `other`, which is not the id of a key. Without a key, the name is empty. */
async function withKeyNames(tx: Transaction, userId: string, lines: readonly Line[]): Promise<Line[]> {
  const names = await selectKeyNames(
    tx,
    userId,
    lines.map(({ name }) => name),
  );
  return lines.map((line) =>
    line.name === "other" ? line : { ...line, id: line.name || null, name: names.get(line.name) ?? line.name },
  );
}

async function readSamples(
  tx: Transaction,
  whose: Whose,
  request: SeriesRequest & { metric: SampledMetric },
): Promise<SeriesRecord> {
  const { metric, groupBy, model } = request;
  if (whose !== "everyone") {
    throw fault("value_error", `The metric ${metric} is of the whole service. Add scope=service.`, {
      loc: ["query", "scope"],
    });
  }
  if (groupBy !== "none") throw fault("value_error", `${metric} has no groups`, { loc: ["query", "group_by"] });
  if (model !== undefined) throw fault("value_error", `${metric} covers all models`, { loc: ["query", "model"] });
  const { now } = await selectSharedMarks(tx);
  const steps = planSteps(request, now);
  return recordOf(request, steps, linesOfSamples(metric, steps, await selectSamples(tx, metric, steps)), null);
}

const shown = (time: number): string => shownMoment(momentOfMicros(time));

function recordOf(
  { metric, groupBy }: SeriesRequest,
  steps: Steps,
  series: Line[],
  total: number | null,
): SeriesRecord {
  return {
    metric,
    unit: unitOf(metric),
    step: steps.step,
    group_by: groupBy,
    from_date: shown(steps.from),
    to_date: shown(steps.to),
    times: steps.starts.map(shown),
    total,
    series,
  };
}
