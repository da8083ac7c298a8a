export { isAdmin, isChosen } from "./access.rules.ts";
export { holdsConversations } from "./chat-backends.rules.ts";
export { maxManifestBytes } from "./manifest.rules.ts";
export type { Model } from "./model.ts";
export { type Models, openModels } from "./open-models.ts";
export { modelOpenApi } from "./openapi/model-openapi.ts";
export { projectNotFound } from "./resolve-model.ts";
export { seedModels } from "./seed-models.ts";
export { takenDownConflict } from "./take-down-model.ts";
