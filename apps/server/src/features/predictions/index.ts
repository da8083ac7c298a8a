export type {
  ChatMessage,
  ChatTool,
  Content,
  ContentPart,
  NativeEvent,
  ReasoningEffort,
  ToolCall,
  ToolCallPiece,
} from "../../engines/models/chat.ts";
export { sentenceAboutRequest, type TokenUsage } from "../../engines/models/driver.ts";
export { base64OfVector } from "../../engines/models/embeddings.ts";
export { countWrongInput, type RateFigures, rateHeaders } from "./admission/admit-predictions.ts";
export { answerLimit, termsOfChat, tokensOfImage } from "./admission/reserve.ts";
export type { BackendState } from "./backends/read-backends.ts";
export type { ChatAnswer, ChatEnd, ChatRequest, RecalledCall } from "./execution/chat-with-model.ts";
export {
  type ConverseEnd,
  type ConverseRequest,
  type DoorChat,
  type Reply,
  storedReply,
  storedUsage,
} from "./execution/converse.ts";
export { type Embedded, type EmbedEnd, type EmbedRequest, storedEmbedding } from "./execution/embed.ts";
export type { LivePrediction } from "./execution/live-predictions.ts";
export type { RunEnd, RunRequest } from "./execution/run-prediction.ts";
export {
  checkIdempotencyKey,
  type IdempotentStart,
  idempotencyScope,
  isIdempotencyKey,
  isLost,
  KeyTakenOver,
  leavesNoAnswer,
  type PresentedKey,
} from "./idempotency/idempotency.ts";
export {
  deleteIdempotencyKeys,
  findIdempotencyKey,
  replaceIdempotencyKey,
  type TakenKey,
  takeIdempotencyKey,
} from "./idempotency/idempotency-store.ts";
export { deleteForgottenInputs } from "./input/delete-forgotten-inputs.ts";
export {
  type CheckedInput,
  type FormFile,
  type FormReader,
  formOfValues,
  type InlineImage,
  type OpenValue,
  openSpool,
  type ReadImage,
  type ReadModelInput,
  type ReceivedForm,
} from "./input/index.ts";
export { describedInput } from "./input/stored-input.ts";
export { previewOf, type RequestOrigin } from "./kept/kept-input.rules.ts";
export { openPredictions, type Predictions, type PredictionsDeps } from "./open-predictions.ts";
export { type Outcome, type StoredIssue, type StoredOutput, streamedField } from "./prediction.ts";
export type { AsyncRequest } from "./queue/accept-async.ts";
export { deleteOldResults } from "./result/delete-old-results.ts";
export { transcriptText } from "./result/fragments.rules.ts";
export { addressOfLink, type LinkOf, renewLinks, storedFault } from "./result/result-item.ts";
export { type EndedPrediction, eraseResultsOfRuns, type PredictionAddress, type PredictionState } from "./store.ts";
