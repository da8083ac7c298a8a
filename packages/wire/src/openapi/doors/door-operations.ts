import * as batches from "../../batches.ts";
import * as doors from "../../doors.ts";
import { groupOf } from "../operation.ts";

const question = { role: "user", content: "Say hello." };
const sse = (description: string) => ({ media: "text/event-stream", description });
const call = { headers: ["Idempotency-Key", "Gantry-Keep-Input"], fails: [402, 404, 409, 413, 429, 502] } as const;

export const openaiGroup = groupOf("/v1", {
  tag: "OpenAI",
  description:
    "The protocol of OpenAI. Set the base URL of a client to `{base_url}/v1`. Errors are `{error: {message, type, param, code}}`.",
  operations: {
    createChatCompletion: {
      method: "post",
      path: "/chat/completions",
      summary: "Chat Completions",
      body: doors.chatCompletionBody,
      example: { model: "gantry/text", messages: [question] },
      answer: doors.chatCompletion,
      otherwise: sse("With `stream: true`: chunks, then `[DONE]`."),
      ...call,
    },
    createResponse: {
      method: "post",
      path: "/responses",
      summary: "Responses",
      body: doors.responseBody,
      example: { model: "gantry/text", input: "Say hello." },
      answer: doors.responseRecord,
      otherwise: sse("With `stream: true`: events of the response."),
      ...call,
    },
    readResponse: {
      method: "get",
      path: "/responses/{response_id}",
      summary: "Read a stored response",
      answer: doors.responseRecord,
    },
    deleteResponse: {
      method: "delete",
      path: "/responses/{response_id}",
      summary: "Delete a stored response",
      answer: doors.deletedResponse,
    },
    cancelResponse: {
      method: "post",
      path: "/responses/{response_id}/cancel",
      summary: "Cancel a background response",
      answer: doors.responseRecord,
    },
    listResponseInput: {
      method: "get",
      path: "/responses/{response_id}/input_items",
      summary: "List the input items of a stored response",
      answer: doors.responseItems,
    },
    createEmbedding: {
      method: "post",
      path: "/embeddings",
      summary: "Embeddings",
      body: doors.embeddingBody,
      answer: doors.embeddingList,
      ...call,
    },
    createImage: {
      method: "post",
      path: "/images/generations",
      summary: "Create images",
      description: "Each image is a prediction with its own usage record.",
      body: doors.imageBody,
      example: { model: "gantry/image", prompt: "A lighthouse at dusk" },
      answer: doors.imageList,
      ...call,
    },
    editImage: {
      method: "post",
      path: "/images/edits",
      summary: "Edit images",
      description: "A form with the fields of `/images/generations`, `image` (one or more) and an optional `mask`.",
      answer: doors.imageList,
      ...call,
    },
    uploadBatchFile: {
      method: "post",
      path: "/files",
      summary: "Upload a file",
      description: "A form with the fields `file` and `purpose`, which is `batch`.",
      answer: batches.protocolFile,
      fails: [413],
    },
    listBatchFiles: {
      method: "get",
      path: "/files",
      summary: "List files",
      description: "Files of batches. All files are on `/api/v2/files`.",
      query: batches.fileListQuery,
      answer: batches.protocolFiles,
    },
    readBatchFile: {
      method: "get",
      path: "/files/{file_id}",
      summary: "Read a file's record",
      answer: batches.protocolFile,
    },
    deleteBatchFile: {
      method: "delete",
      path: "/files/{file_id}",
      summary: "Delete a file",
      description: "The input of a batch can be deleted when the batch has ended.",
      answer: batches.deletedFile,
      fails: [409],
    },
    readBatchFileContent: {
      method: "get",
      path: "/files/{file_id}/content",
      summary: "Download a file",
      answer: { media: "application/jsonl", description: "The bytes of the file." },
    },
    createBatch: {
      method: "post",
      path: "/batches",
      summary: "Create a batch",
      description:
        "Runs the requests of an uploaded file in the queue. Each line is a prediction with its own usage record.",
      body: batches.batchBody,
      example: { input_file_id: "file_1", endpoint: "/v1/chat/completions", completion_window: "24h" },
      answer: batches.batchRecord,
      fails: [429],
    },
    listBatches: {
      method: "get",
      path: "/batches",
      summary: "List batches",
      query: batches.batchListQuery,
      answer: batches.batchList,
    },
    readBatch: {
      method: "get",
      path: "/batches/{batch_id}",
      summary: "Read a batch",
      answer: batches.batchRecord,
    },
    cancelBatch: {
      method: "post",
      path: "/batches/{batch_id}/cancel",
      summary: "Cancel a batch",
      description: "Requests that have not ended are cancelled. Those that have ended are in the result files.",
      answer: batches.batchRecord,
      fails: [409],
    },
    listCompatibleModels: {
      method: "get",
      path: "/models",
      summary: "List models, aliases and agents",
      description: "With the header `anthropic-version` the answer has Anthropic's shape.",
      answer: doors.compatibleModels,
    },
    readCompatibleModel: {
      method: "get",
      path: "/models/{path}",
      summary: "Read a model, alias or agent",
      description: "The id contains slashes, plain or as `%2F`.",
      answer: doors.compatibleModel,
    },
  },
});

export const anthropicGroup = groupOf("/v1", {
  tag: "Anthropic",
  description:
    "The protocol of Anthropic. Set the base URL of a client to `{base_url}`. Errors are `{type: error, error: {type, message}, request_id}`.",
  operations: {
    createMessage: {
      method: "post",
      path: "/messages",
      summary: "Messages",
      body: doors.messageBody,
      example: { model: "gantry/text", max_tokens: 100, messages: [question] },
      answer: doors.messageRecord,
      otherwise: sse("With `stream: true`: named events."),
      ...call,
    },
    countMessageTokens: {
      method: "post",
      path: "/messages/count_tokens",
      summary: "Count the input tokens of a message",
      description: "Free, and counted by the rate limit.",
      body: doors.countMessageTokensBody,
      example: { model: "gantry/text", messages: [question] },
      answer: doors.messageTokens,
      fails: [404, 429],
    },
  },
});
