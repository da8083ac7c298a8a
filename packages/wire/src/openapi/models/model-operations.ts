import { modelsQuery } from "../../models-query.ts";
import { groupOf } from "../operation.ts";
import { changeModelBody, modelCard, putModelBody } from "./model-schemas.ts";

export const modelGroup = groupOf("/api/v1", {
  tag: "Models",
  description: "Which models there are, and your own. How one is called is in the document of each.",
  operations: {
    listModels: {
      method: "get",
      path: "/",
      summary: "List the models that you may call",
      description: "By endpoint id, in pages.",
      answer: modelCard,
      list: "results",
      query: modelsQuery,
    },
    readModel: {
      method: "get",
      path: "/{owner}/{model}",
      summary: "Read the card of a model",
      answer: modelCard,
      fails: [403],
    },
    putModel: {
      method: "put",
      path: "/{owner}/{model}",
      summary: "Make a model of your own, or replace it",
      description: "An admin, anyone's. Whoever calls it pays its price.",
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
      summary: "Retire a model",
      description: "What was accepted still ends, nothing new is. The name may be used again.",
      status: 204,
      fails: [403],
    },
    restoreModel: {
      method: "post",
      path: "/{owner}/{model}/restore",
      summary: "Bring back a model that comes with Gantry and was deleted",
      description: "As it ships now. For admins.",
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
