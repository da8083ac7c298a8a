export { isAdmin, isChosen } from "./access.rules.ts";
export { holdsConversations } from "./backend.rules.ts";
export { takenDownConflict } from "./change-model.ts";
export { projectNotFound } from "./find-models.ts";
export { maxManifestBytes } from "./manifest.rules.ts";
export type { Model } from "./model.ts";
export { type Models, openModels } from "./open-models.ts";
export { modelOpenApi } from "./openapi/model-openapi.ts";
export { seedModels } from "./seed-models.ts";
