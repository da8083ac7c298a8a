import { errorSchemas } from "../../error-schemas.ts";
import { accountFailures } from "../account/account-failures.ts";
import { accountPage } from "../account/account-page.ts";
import { documentOf } from "../document.ts";
import type { Api } from "../operation.ts";
import { modelGroup } from "./model-operations.ts";
import { changeModelBody, modelCard, putModelBody } from "./model-schemas.ts";

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
