import type { ToolServerStatus } from "@gantry/sdk";
import { Badge } from "../../ui/badge.tsx";

export function ServerStatus({ status }: { status: ToolServerStatus }) {
  if (status === "connected") return <Badge tone="good">Connected</Badge>;
  if (status === "authorization_required") return <Badge tone="warn">Authorization required</Badge>;
  return <Badge tone="bad">{status === "unauthorized" ? "Unauthorized" : "Unreachable"}</Badge>;
}
