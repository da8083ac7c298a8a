import type { UserRecord } from "@gantry/sdk";
import { Badge } from "../../ui/badge.tsx";

export function UserBadges({ user: { kind, role, disabled } }: { user: UserRecord }) {
  return (
    <>
      {kind === "team" && <Badge>Team</Badge>}
      {role === "admin" && <Badge tone="info">Admin</Badge>}
      {disabled && <Badge tone="bad">Disabled</Badge>}
    </>
  );
}
