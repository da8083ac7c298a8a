export type {
  Batch,
  BatchEndpoint,
  BatchProtocol,
  LineAnswer,
  LineRequest,
  PreparedLine,
} from "./batch.ts";
export type { BatchesDeps } from "./context.ts";
export { type Batches, openBatches } from "./open-batches.ts";
export { type BatchWorker, startBatches } from "./start-batches.ts";
