import type { ToolServerRecord } from "@gantry/sdk";
import { Detail } from "../../ui/detail.tsx";
import { Moment } from "../../ui/moment.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/page.tsx";
import { ServerStatus } from "./server-status.tsx";

const nextSteps = {
  connected: undefined,
  unauthorized: "The server rejected the credentials or requires some. Click Edit to change them.",
  authorization_required: undefined,
  unreachable: "Check that the server is running and the URL is correct, then retry.",
} as const;

export function ServerDetails({ server }: { server: ToolServerRecord }) {
  return (
    <>
      {server.last_error && (
        <Notice tone="warn" title={server.last_error}>
          {nextSteps[server.status]}
        </Notice>
      )}
      <Panel>
        <dl className="grid gap-x-6 gap-y-3 sm:grid-cols-2 lg:grid-cols-3">
          <Detail name="Status">
            <ServerStatus status={server.status} />
          </Detail>
          <Detail name="URL">
            <code className="break-all">{server.url}</code>
          </Detail>
          <Detail name="Transport">{server.connection_type === "sse" ? "SSE" : "Streamable HTTP"}</Detail>
          <Detail name="Authentication">{authLabel(server.auth)}</Detail>
          <Detail name="Added">
            <Moment at={server.created_at} />
          </Detail>
          <Detail name="Updated">
            <Moment at={server.updated_at} />
          </Detail>
        </dl>
      </Panel>
    </>
  );
}

function authLabel(auth: ToolServerRecord["auth"]): string {
  if (!auth) return "None";
  if (auth.type === "oauth") return auth.client_id === undefined ? "OAuth" : `OAuth, client ${auth.client_id}`;
  return auth.type === "bearer" ? "Bearer token" : `API key in header ${auth.header}`;
}
