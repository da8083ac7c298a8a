import type { IdpActionRecord } from "@gantry/sdk";
import { Link } from "@tanstack/react-router";
import { Notice } from "../../ui/notice.tsx";

/** What is to be known before anything is typed. */
export function ActionNotices({ action, isConnected }: { action: IdpActionRecord; isConnected: boolean }) {
  if (!isConnected) {
    return (
      <Notice tone="warn" title="No tenant is connected">
        <Link to="/identity" className="text-accent hover:underline">
          Connect one
        </Link>{" "}
        to run this.
      </Notice>
    );
  }
  if (action.allowed_by_token !== false) return null;
  return (
    <Notice tone="warn" title="The token has no scope for this">
      It needs {action.scopes.length > 1 ? "one of " : ""}
      <code className="break-words">{action.scopes.join(", ")}</code>: the tenant will probably refuse it.
    </Notice>
  );
}
