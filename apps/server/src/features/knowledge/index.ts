export type { DriveIndex, KnowledgeDeps } from "./knowledge.ts";
export { type Knowledge, openKnowledge } from "./open-knowledge.ts";
export type { IndexFile } from "./store.ts";
