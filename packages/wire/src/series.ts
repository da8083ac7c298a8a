import { z } from "zod";
import { choice, onlyParameters, searchTextIfAny } from "./query-schema.ts";

/** Figures of predictions, and the samples of the service. */
export const seriesMetrics = ["spend", "requests", "errors", "latency", "tokens", "queue", "running", "nodes"] as const;
export const seriesSteps = ["minute", "hour", "day"] as const;
export const seriesGroups = ["none", "model", "key", "mode", "status"] as const;
const seriesUnits = ["dollars", "count", "seconds", "tokens"] as const;

/** The route parses these times itself, as those of the other lists of usage. */
const moment = z.unknown().optional().meta({ type: "string" });
const moments = "ISO 8601, such as `2026-01-31T23:59:59`; UTC unless a zone is given.";

export const seriesQuery = onlyParameters({
  metric: choice(seriesMetrics).describe(
    "`errors`: predictions that failed; cancelled ones are not errors. `latency`: time of successful predictions without the queue. `queue`, `running` and `nodes` need `scope=service`.",
  ),
  from_date: moment.describe(`Rounded down to the start of a step. Default: 24 hours before \`to_date\`. ${moments}`),
  to_date: moment.describe(`Steps that start before this time are included. Default: now. ${moments}`),
  step: choice(seriesSteps)
    .optional()
    .describe(
      "Length of a step in UTC: `minute` for up to 3 hours, `hour` for up to 31 days, `day` for up to 400 days. Default: minutes up to 3 hours, hours up to 3 days, otherwise days.",
    ),
  group_by: choice(seriesGroups)
    .default("none")
    .describe("One series for each of the 8 largest groups and one named `other` for the rest."),
  model: searchTextIfAny.describe("Only this model, as `owner/model`."),
  key_id: searchTextIfAny.describe("Only predictions of this key."),
  mode: choice(["sync", "stream", "async", "agent"]).optional().describe("Only predictions that were called this way."),
  scope: choice(["own", "service"])
    .default("own")
    .describe("`service`: all users together. Only for admins, without `key_id`, `mode` and `username`."),
  username: searchTextIfAny.describe("The predictions of another user. Only for admins."),
});

const value = z.number().nullable();

export const seriesRecord = z.object({
  metric: z.enum(seriesMetrics),
  unit: z.enum(seriesUnits),
  step: z.enum(seriesSteps),
  group_by: z.enum(seriesGroups),
  from_date: z.iso.datetime().describe("The start of the first step."),
  to_date: z.iso.datetime().describe("The end of the last step, or now. Not included."),
  times: z.array(z.iso.datetime()).describe("The start of each step, in UTC."),
  total: value.describe("Over the whole range. Null for `latency` and samples, and if a part is unknown."),
  series: z
    .array(
      z.object({
        name: z
          .string()
          .describe(
            "The metric, its part (`p50`, `p95`, `input`, `output`, `cached`, `average`, `peak`, `lowest`), or the group. Empty for predictions without a key and for keys without a name.",
          ),
        id: z
          .string()
          .nullable()
          .describe(
            "The id of the key with `group_by=key`. Otherwise null, as for `other` and for predictions without a key.",
          ),
        values: z
          .array(value)
          .describe("One for each time. Null if it is unknown or, for `latency`, without predictions."),
        total: value.describe("Over the whole range: the sum, or the percentile of all predictions."),
      }),
    )
    .describe("Largest first. With `group_by`, latency is the p95 and tokens are input and output together."),
});
/** Figures over time, for charts. */
export type SeriesRecord = z.infer<typeof seriesRecord>;
export type SeriesMetric = (typeof seriesMetrics)[number];
export type SeriesStep = (typeof seriesSteps)[number];
export type SeriesGroup = (typeof seriesGroups)[number];
export type SeriesUnit = (typeof seriesUnits)[number];
