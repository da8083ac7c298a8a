import { CircleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "../ui/button.tsx";
import { changeConsoleStatus, useConsoleStatus } from "./console-status.ts";

export function StatusBanner() {
  const { isOffline, session } = useConsoleStatus();
  return (
    <div role="status">
      {isOffline && <Banner>Can't reach the server. Retrying…</Banner>}
      {session === "dismissed" && (
        <Banner>
          Your session has ended.{" "}
          <Button className="ml-2" onClick={() => changeConsoleStatus({ session: "ended" })}>
            Sign in again
          </Button>
        </Banner>
      )}
    </div>
  );
}

function Banner({ children }: { children: ReactNode }) {
  return (
    <div className="flex items-center gap-2.5 border-line border-b bg-warn-soft px-4 py-2 md:px-8">
      <CircleAlert size={16} className="shrink-0 text-warn" />
      <p className="min-w-0">{children}</p>
    </div>
  );
}
