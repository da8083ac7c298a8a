import type { UserRecord } from "@gantry/sdk";
import { Badge } from "../../ui/badge.tsx";

export function UserBadges({ user }: { user: UserRecord }) {
  const { kind, role, disabled, balance_low, deletion_requested_at } = user;
  return (
    <>
      {kind === "team" && <Badge>Team</Badge>}
      {role === "admin" && <Badge tone="info">Admin</Badge>}
      {balance_low && <Badge tone="warn">Low balance</Badge>}
      {deletion_requested_at ? <Badge tone="bad">Being deleted</Badge> : disabled && <Badge tone="bad">Disabled</Badge>}
    </>
  );
}
