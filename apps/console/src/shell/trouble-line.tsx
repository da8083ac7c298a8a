import { CircleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "../ui/button.tsx";
import { setTrouble, useTrouble } from "./trouble.ts";

/** One line above every page. */
export function TroubleLine() {
  const { isUnreached, session } = useTrouble();
  return (
    <div role="status">
      {isUnreached && <Line>The server is not reached. It is tried again every few seconds.</Line>}
      {session === "put off" && (
        <Line>
          Your session has ended.{" "}
          <Button className="ml-2" onClick={() => setTrouble({ session: "ended" })}>
            Sign in again
          </Button>
        </Line>
      )}
    </div>
  );
}

function Line({ children }: { children: ReactNode }) {
  return (
    <div className="flex items-center gap-2.5 border-line border-b bg-warn-soft px-4 py-2 md:px-8">
      <CircleAlert size={16} className="shrink-0 text-warn" />
      <p className="min-w-0">{children}</p>
    </div>
  );
}
