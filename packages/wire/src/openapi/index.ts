export { accountApi, accountDocument } from "./account/account-document.ts";
export { agentsApi, agentsDocument } from "./agents/agents-document.ts";
export { doorsApi, doorsDocument } from "./doors/doors-document.ts";
export { manifestDocument } from "./manifest-document.ts";
export { modelsApi, modelsDocument } from "./models/models-document.ts";
export type { Operation } from "./operation.ts";
