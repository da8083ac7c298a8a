import type { IdpActionRecord } from "@gantry/sdk";
import { Link } from "@tanstack/react-router";
import { Notice } from "../../ui/notice.tsx";

export function ActionNotices({ action, isConnected }: { action: IdpActionRecord; isConnected: boolean }) {
  if (!isConnected) {
    return (
      <Notice tone="warn" title="No tenant connected">
        <Link to="/identity" className="text-accent hover:underline">
          Connect a tenant
        </Link>{" "}
        to run this action.
      </Notice>
    );
  }
  if (action.allowed_by_token !== false) return null;
  return (
    <Notice tone="warn" title="The token has no scope for this action">
      The action needs {action.scopes.length > 1 ? "one of " : ""}
      <code className="break-words">{action.scopes.join(", ")}</code>. The tenant will probably refuse it.
    </Notice>
  );
}
