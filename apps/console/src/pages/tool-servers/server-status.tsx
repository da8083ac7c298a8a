import type { ToolServerStatus } from "@gantry/sdk";
import { Badge } from "../../ui/badge.tsx";

export function ServerStatus({ status }: { status: ToolServerStatus }) {
  if (status === "connected") return <Badge tone="good">connected</Badge>;
  return <Badge tone="bad">{status}</Badge>;
}
