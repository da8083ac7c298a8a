import { getRouteApi } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { AuditCsvButton } from "../audit/audit-csv-button.tsx";
import { AuditLog } from "../audit/audit-log.tsx";
import { OnlyAdmins } from "./only-admins.tsx";

const title = "Audit log";
const route = getRouteApi("/app/admin/audit");

export function AuditPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <OnlyAdmins title={title}>
      <AuditLog
        title={title}
        lead="Who changed what, when and from where. Values of secrets are not recorded."
        scope="all"
        read={(query) => api.admin.audit.list(query)}
        actions={(filter) => <AuditCsvButton filter={filter} />}
        search={search}
        onSearch={(wanted) => void navigate({ search: wanted, replace: true, resetScroll: false })}
        onPage={(page, how) => void navigate({ search: { ...search, page }, ...how })}
      />
    </OnlyAdmins>
  );
}
