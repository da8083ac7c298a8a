import type { UserRecord } from "@gantry/sdk";
import { Badge } from "../../ui/badge.tsx";

export function UserBadges({ user: { role, disabled } }: { user: UserRecord }) {
  return (
    <>
      {role === "admin" && <Badge tone="info">Admin</Badge>}
      {disabled && <Badge tone="bad">Disabled</Badge>}
    </>
  );
}
