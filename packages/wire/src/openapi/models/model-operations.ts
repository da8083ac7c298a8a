import { managementPage, modelsQuery } from "../../account-queries.ts";
import { backendRecord } from "../../backend-record.ts";
import { groupOf } from "../operation.ts";
import { changeModelBody, modelCard, putModelBody } from "./model-schemas.ts";

export const modelGroup = groupOf("/api/v1", {
  tag: "Models",
  description: "List models and manage your own. The document of each model describes how to call it.",
  operations: {
    listModels: {
      method: "get",
      path: "/",
      summary: "List models that you may call",
      description: "Sorted by endpoint id, in pages.",
      answer: modelCard,
      list: "results",
      query: modelsQuery,
    },
    readModel: {
      method: "get",
      path: "/{owner}/{model}",
      summary: "Read a model",
      answer: modelCard,
      fails: [403],
    },
    putModel: {
      method: "put",
      path: "/{owner}/{model}",
      summary: "Create or replace a model",
      description: "Admins can do this for any user. Callers of the model pay its price.",
      body: putModelBody,
      example: {
        kind: "text",
        backend: { type: "openai-chat", url: "https://llm.example/v1", model: "large", secret: "upstream" },
        input: { type: "object", properties: { prompt: { type: "string" } }, required: ["prompt"] },
        output: { type: "object", properties: { output: { type: "string", isStream: true } } },
      },
      answer: modelCard,
      also: [201],
      fails: [403],
    },
    changeModel: {
      method: "patch",
      path: "/{owner}/{model}",
      summary: "Change a model",
      body: changeModelBody,
      example: { visibility: "public", capacity: 4 },
      answer: modelCard,
      fails: [403],
    },
    deleteModel: {
      method: "delete",
      path: "/{owner}/{model}",
      summary: "Delete a model",
      description: "Accepted predictions still finish; new ones are refused. The name can be used again.",
      status: 204,
      fails: [403],
    },
    listBackends: {
      method: "get",
      path: "/{owner}/{model}/backends",
      summary: "List the backends of a model with their state",
      description: "In the order of the manifest. Only for the owner and admins.",
      answer: backendRecord,
      list: "results",
      query: managementPage,
      fails: [403],
    },
    restoreModel: {
      method: "post",
      path: "/{owner}/{model}/restore",
      summary: "Restore a deleted built-in model",
      description: "In its current version. Only for admins.",
      answer: modelCard,
      status: 201,
      fails: [403, 409],
    },
  },
});

/** How a model is called. Its own document, at `/api/v1/{owner}/{model}/openapi.json`, describes these routes. */
export const modelCallGroup = groupOf("/api/v1", {
  tag: "Predictions",
  description: "Call one model.",
  operations: {
    readModelDocument: {
      method: "get",
      path: "/{owner}/{model}/openapi.json",
      summary: "Read the OpenAPI document of a model",
    },
    predict: { method: "post", path: "/{owner}/{model}/predict", summary: "Run and wait for the result" },
    predictStream: {
      method: "post",
      path: "/{owner}/{model}/predict/stream/",
      summary: "Run and receive the output as Server-Sent Events",
    },
    predictAsync: {
      method: "post",
      path: "/{owner}/{model}/predict/async/",
      summary: "Queue a run and fetch its result later",
    },
    readResult: {
      method: "get",
      path: "/{owner}/{model}/predict/async/result/",
      summary: "Read the state or the result of a run",
    },
    readResultByPost: {
      method: "post",
      path: "/{owner}/{model}/predict/async/result/",
      summary: "Read the state or the result of a run",
    },
    cancel: { method: "post", path: "/{owner}/{model}/predict/cancel/", summary: "Cancel a run" },
    cancelByPatch: { method: "patch", path: "/{owner}/{model}/predict/cancel/", summary: "Cancel a run" },
    readFlow: { method: "get", path: "/{owner}/{model}/flow", summary: "Read how busy the queue of the model is" },
    createUploadUrl: {
      method: "get",
      path: "/{owner}/{model}/upload_url",
      summary: "Create a link to upload a file to",
    },
    uploadFile: { method: "post", path: "/{owner}/{model}/upload_file", summary: "Store a file" },
    createDownloadUrl: {
      method: "get",
      path: "/{owner}/{model}/download_s3_url",
      summary: "Create a link to download a file from",
    },
  },
});
