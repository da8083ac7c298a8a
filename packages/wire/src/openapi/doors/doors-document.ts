import * as batches from "../../batches.ts";
import * as doors from "../../doors.ts";
import { documentOf } from "../document.ts";
import { retryAfter } from "../headers.ts";
import type { Api } from "../operation.ts";
import { anthropicGroup, openaiGroup } from "./door-operations.ts";

const meanings: Readonly<Record<number, [name: string, description: string]>> = {
  400: ["InvalidRequest", "The request is invalid, or a field cannot be honoured."],
  401: ["Unauthorized", "The key is missing or invalid."],
  402: ["InsufficientFunds", "The balance or the key's monthly limit does not cover the request."],
  404: ["NotFound", "The model, response, file or batch does not exist, or the caller may not use it."],
  409: ["Conflict", "The agent's run needs a confirmation, or the request conflicts with the current state."],
  413: ["TooLarge", "The body is larger than 32 MB, or a file larger than 200 MB."],
  422: ["IdempotencyKeyReused", "Never sent: an Idempotency-Key that was used for another request is a 400."],
  429: ["RateLimited", "Too many requests."],
  500: ["Internal", "Gantry failed."],
  502: ["UpstreamError", "The service behind the model failed."],
  503: ["Unavailable", "Temporarily unavailable; try again."],
};

export const doorsApi: Api = {
  title: "Gantry for OpenAI and Anthropic clients",
  description:
    "Routes that speak the protocols of OpenAI and Anthropic. Existing clients work with a changed base URL. The protocols' own documentation describes all fields.",
  base: "/v1",
  stability: "preview",
  groups: [openaiGroup, anthropicGroup],
  requests: {
    CreateChatCompletion: doors.chatCompletionBody,
    CreateResponse: doors.responseBody,
    CreateEmbedding: doors.embeddingBody,
    CreateImage: doors.imageBody,
    CreateBatch: batches.batchBody,
    CreateMessage: doors.messageBody,
    CountMessageTokens: doors.countMessageTokensBody,
  },
  answers: {
    ChatCompletion: doors.chatCompletion,
    Response: doors.responseRecord,
    ResponseItems: doors.responseItems,
    DeletedResponse: doors.deletedResponse,
    EmbeddingList: doors.embeddingList,
    ImageList: doors.imageList,
    File: batches.protocolFile,
    FileList: batches.protocolFiles,
    DeletedFile: batches.deletedFile,
    Batch: batches.batchRecord,
    BatchList: batches.batchList,
    Message: doors.messageRecord,
    MessageTokens: doors.messageTokens,
    CompatibleModel: doors.compatibleModel,
    CompatibleModelList: doors.compatibleModels,
  },
  pathParameters: {
    response_id: "The response's id.",
    path: "The model's id.",
    file_id: "The file's id.",
    batch_id: "The batch's id.",
  },
  failures: Object.fromEntries(
    Object.entries(meanings).map(([status, [name, description]]) => [
      status,
      { name, description, schema: "Error", ...(["429", "503"].includes(status) && { headers: retryAfter }) },
    ]),
  ),
  failureSchemas: {
    Error: {
      type: "object",
      description:
        "OpenAI: `{error: {message, type, param, code}}`. Anthropic: `{type, error: {type, message}, request_id}`.",
      properties: { error: { type: "object" } },
      required: ["error"],
    },
  },
  invalid: 400,
  page: {},
};

export const doorsDocument = documentOf(doorsApi);
