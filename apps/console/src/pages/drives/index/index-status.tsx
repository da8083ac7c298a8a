import type { DriveIndexRecord } from "@gantry/sdk";
import { Badge } from "../../../ui/badge.tsx";

const badges = {
  indexing: <Badge tone="info">Indexing</Badge>,
  ready: <Badge tone="good">Ready</Badge>,
  paused: <Badge tone="warn">Paused</Badge>,
};

export const IndexStatus = ({ status }: Pick<DriveIndexRecord, "status">) => badges[status];
