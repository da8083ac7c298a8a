export { createDriveSearch, type DriveSearch, type DriveSearchDeps, type DriveSearchResponse } from "./search-drive.ts";
export type { FoundChunk } from "./search-store.ts";
