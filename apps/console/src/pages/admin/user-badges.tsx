import type { UserRecord } from "@gantry/sdk";
import { Badge } from "../../ui/badge.tsx";

export function UserBadges({ user: { kind, role, disabled, balance_low } }: { user: UserRecord }) {
  return (
    <>
      {kind === "team" && <Badge>Team</Badge>}
      {role === "admin" && <Badge tone="info">Admin</Badge>}
      {balance_low && <Badge tone="warn">Low balance</Badge>}
      {disabled && <Badge tone="bad">Disabled</Badge>}
    </>
  );
}
