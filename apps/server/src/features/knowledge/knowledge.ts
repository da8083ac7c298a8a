import type { BlobStore } from "../../engines/blobs/blobs.ts";
import type { Database } from "../../engines/database/database.ts";
import type { Documents } from "../../engines/documents/documents.ts";
import type { Log } from "../../kernel/log.ts";
import type { Accounts } from "../accounts/index.ts";
import type { Models } from "../models/index.ts";
import type { Nodes } from "../nodes/index.ts";
import type { Predictions } from "../predictions/index.ts";

export interface KnowledgeDeps {
  database: Database;
  blobs: BlobStore;
  log: Log;
  nodeId: string;
  nodes: Nodes;
  accounts: Pick<Accounts, "callerOfKey">;
  models: Pick<Models, "getModel" | "targetOf">;
  predictions: Pick<Predictions, "embed" | "mostCost">;
  documents: Documents;
  /** Files that this node indexes at once; 0 if it is not a worker. */
  parallel: number;
}

export interface DriveIndex {
  driveId: string;
  ownerId: string;
  keyId: string;
  embeddingModel: string | null;
  /** The model that made the vectors of this generation; null before the first one. */
  endpointId: string | null;
  dimensions: number | null;
  generation: number;
  /** Grows with each change of the chunks. */
  version: number;
}
