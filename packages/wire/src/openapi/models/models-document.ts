import { errorSchemas } from "../../error-schemas.ts";
import { modelsQuery } from "../../models-query.ts";
import { accountFailures } from "../account/account-failures.ts";
import { accountPage } from "../account/account-page.ts";
import { documentOf } from "../document.ts";
import type { Api, OperationGroup } from "../operation.ts";
import { changeModelBody, modelCard, putModelBody } from "./model-schemas.ts";

const path = "/{owner}/{model}";

const modelGroup: OperationGroup = {
  tag: "Models",
  description: "Which models there are, and your own. How one is called is in the document of each.",
  operations: [
    {
      id: "listModels",
      method: "get",
      path: "/",
      summary: "List the models that you may call",
      description: "By endpoint id, in pages.",
      answer: modelCard,
      list: "results",
      query: modelsQuery,
    },
    {
      id: "readModel",
      method: "get",
      path,
      summary: "Read the card of a model",
      answer: modelCard,
      fails: [403],
    },
    {
      id: "putModel",
      method: "put",
      path,
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
    {
      id: "changeModel",
      method: "patch",
      path,
      summary: "Change a model",
      body: changeModelBody,
      example: { visibility: "public", capacity: 4 },
      answer: modelCard,
      fails: [403],
    },
    {
      id: "deleteModel",
      method: "delete",
      path,
      summary: "Retire a model",
      description: "What was accepted still ends, nothing new is. The name may be used again.",
      status: 204,
      fails: [403],
    },
    {
      id: "restoreModel",
      method: "post",
      path: `${path}/restore`,
      summary: "Bring back a model that comes with Gantry and was deleted",
      description: "As it ships now. For admins.",
      answer: modelCard,
      status: 201,
      fails: [403, 409],
    },
  ],
};

const { 400: _ofDates, ...failures } = accountFailures;

export const modelsApi: Api = {
  title: "Gantry models",
  description:
    "The list of models, and making and changing them. What one takes and gives, and all ways to call it, are at `/api/v1/{owner}/{model}/openapi.json`. A client must ignore fields that it does not know.",
  base: "/api/v1",
  stability: "stable",
  groups: [modelGroup],
  requests: { PutModel: putModelBody, ChangeModel: changeModelBody },
  answers: { Model: modelCard },
  pathParameters: { owner: "The user whose model it is.", model: "1 to 63 of a-z, 0-9, `.`, `_` and `-`." },
  failures,
  failureSchemas: errorSchemas,
  invalid: 422,
  page: accountPage,
};

export const modelsDocument = documentOf(modelsApi);
