export { openSeries, type Series } from "./open-series.ts";
export type { SeriesRequest } from "./plan.rules.ts";
export { deleteOldSamples, type Sampling, startSampling } from "./samples.ts";
