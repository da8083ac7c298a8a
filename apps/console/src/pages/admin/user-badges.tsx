import type { UserRecord } from "@gantry/sdk";
import { Badge } from "../../ui/badge.tsx";

/** What is unusual about a user. */
export function UserBadges({ user: { role, disabled } }: { user: UserRecord }) {
  return (
    <>
      {role === "admin" && <Badge tone="info">admin</Badge>}
      {disabled && <Badge tone="bad">disabled</Badge>}
    </>
  );
}
