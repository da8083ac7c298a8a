import type { ToolServerRecord } from "@gantry/sdk";
import { Detail } from "../../ui/detail.tsx";
import { Moment } from "../../ui/moment.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/page.tsx";
import { ServerStatus } from "./server-status.tsx";

const whatToDo = {
  connected: undefined,
  unauthorized: "It wants a token or a key, or refuses the one that is stored: put another in with Change.",
  unreachable: "Look whether it runs and whether the address is right, then check again.",
} as const;

export function ServerDetails({ server }: { server: ToolServerRecord }) {
  return (
    <>
      {server.last_error && (
        <Notice tone="warn" title={server.last_error}>
          {whatToDo[server.status]}
        </Notice>
      )}
      <Panel>
        <dl className="grid gap-x-6 gap-y-3 sm:grid-cols-2 lg:grid-cols-3">
          <Detail name="Status">
            <ServerStatus status={server.status} />
          </Detail>
          <Detail name="Address">
            <code className="break-all">{server.url}</code>
          </Detail>
          <Detail name="Transport">{server.connection_type === "sse" ? "SSE" : "Streamable HTTP"}</Detail>
          <Detail name="Sign-in">{signIn(server.auth)}</Detail>
          <Detail name="Added">
            <Moment at={server.created_at} />
          </Detail>
          <Detail name="Changed">
            <Moment at={server.updated_at} />
          </Detail>
        </dl>
      </Panel>
    </>
  );
}

function signIn(auth: ToolServerRecord["auth"]): string {
  if (!auth) return "None";
  return auth.type === "bearer" ? "Bearer token" : `Key in the header ${auth.header}`;
}
