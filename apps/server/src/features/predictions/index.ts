export type { RateFigures } from "./admit-predictions.ts";
export { rateHeaders } from "./admit-predictions.ts";
export type { HeldPrediction } from "./held-predictions.ts";
export { type CheckedInput, type FormReader, readInput, sweepSpool } from "./input/index.ts";
export { openPredictions, type Predictions, type PredictionsDeps } from "./open-predictions.ts";
export type { Outcome, StoredOutput } from "./prediction.ts";
export type { RunEnd, RunRequest } from "./run-prediction.ts";
