import { getRouteApi } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { AuditLog } from "./audit-log.tsx";

const route = getRouteApi("/app/activity");

export function ActivityPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <AuditLog
      title="Activity"
      lead="What you changed, and what admins changed on what is yours. Values of secrets are not recorded."
      scope="own"
      read={({ actor: _admins, ...query }) => api.account.audit(query)}
      search={search}
      onSearch={(wanted) => void navigate({ search: wanted, replace: true, resetScroll: false })}
      onPage={(page, how) => void navigate({ search: { ...search, page }, ...how })}
    />
  );
}
