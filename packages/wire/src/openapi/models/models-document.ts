import { backendRecord } from "../../backend-record.ts";
import { errorSchemas } from "../../error-schemas.ts";
import { accountFailures, accountPage } from "../account/account-failures.ts";
import { documentOf } from "../document.ts";
import type { Api } from "../operation.ts";
import { modelGroup } from "./model-operations.ts";
import { changeModelBody, modelCard, putModelBody } from "./model-schemas.ts";

const { 400: _ofDates, ...failures } = accountFailures;

export const modelsApi: Api = {
  title: "Gantry models",
  description:
    "List, create and change models. The document of each model, at `/api/v1/{owner}/{model}/openapi.json`, describes its input, output and routes. Clients must ignore unknown fields.",
  base: "/api/v1",
  stability: "stable",
  groups: [modelGroup],
  requests: { PutModel: putModelBody, ChangeModel: changeModelBody },
  answers: { Model: modelCard, Backend: backendRecord },
  pathParameters: { owner: "The owner's username.", model: "1 to 63 characters: a-z, 0-9, `.`, `_` and `-`." },
  failures,
  failureSchemas: errorSchemas,
  invalid: 422,
  page: accountPage,
};

export const modelsDocument = documentOf(modelsApi);
