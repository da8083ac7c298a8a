export type { AsyncRequest } from "./accept-async.ts";
export { type RateFigures, rateHeaders } from "./admit-predictions.ts";
export type { ChatAnswer, ChatEnd, ChatRequest, RecalledCall } from "./chat-with-model.ts";
export { countWrongInput } from "./count-wrong-input.ts";
export type { HeldPrediction } from "./held-predictions.ts";
export { idempotencyScope } from "./idempotency.rules.ts";
export {
  checkIdempotencyKey,
  type IdempotentStart,
  isIdempotencyKey,
  isLost,
  KeyTakenOver,
  leavesNoAnswer,
  type PresentedKey,
} from "./idempotency.ts";
export {
  type CheckedInput,
  type FormReader,
  formOfValues,
  type HeldForm,
  holdForm,
  type OpenValue,
  readInput,
  sweepSpool,
} from "./input/index.ts";
export { openPredictions, type Predictions, type PredictionsDeps } from "./open-predictions.ts";
export { type Outcome, type StoredOutput, streamedField } from "./prediction.ts";
export { renewLinks } from "./renew-links.ts";
export { answerLimit, termsOfChat } from "./reserve.ts";
export { fileLinks, type LinkOf } from "./result-item.ts";
export type { RunEnd, RunRequest } from "./run-prediction.ts";
export { storedFault } from "./stored-fault.ts";
