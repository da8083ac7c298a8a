export { deleteDeletedMarks } from "./delete-content.ts";
export { type History, openHistory } from "./open-history.ts";
export { type ListedPrediction, type PredictionFilter, type ShownPrediction, statusOf } from "./prediction.ts";
