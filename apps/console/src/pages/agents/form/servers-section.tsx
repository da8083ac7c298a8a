import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Badge } from "../../../ui/badge.tsx";
import { Checkbox } from "../../../ui/field.tsx";
import { Loaded } from "../../../ui/notice.tsx";
import { allToolServersQuery } from "../../tool-servers/tool-server-queries.ts";
import type { AgentDraft } from "./agent-draft.rules.ts";
import { Section } from "./section.tsx";
import { ServerTools } from "./server-tools.tsx";

type Bindings = AgentDraft["mcp_servers"];

interface ServersSectionProps {
  servers: Bindings;
  error: string | undefined;
  onChange(servers: Bindings): void;
}

export function ServersSection({ servers, error, onChange }: ServersSectionProps) {
  const own = useQuery(allToolServersQuery);
  const bound = (id: string) => servers.find((server) => server.id === id);
  const toggle = (id: string) =>
    onChange(bound(id) ? servers.filter((server) => server.id !== id) : [...servers, { id }]);
  return (
    <Section title="Tool servers" error={error} hint="MCP servers. Allow all of their tools or choose some.">
      <Loaded query={own}>
        {(all) => {
          const gone = servers.filter(({ id }) => !all.some((server) => server.id === id));
          return (
            <ul className="flex flex-col gap-2">
              {all.length + gone.length === 0 && (
                <li className="text-muted">
                  You have no tool servers.{" "}
                  <Link to="/tool-servers" className="text-accent hover:underline">
                    Connect a server
                  </Link>
                </li>
              )}
              {all.map(({ id, name, status }) => {
                const binding = bound(id);
                return (
                  <li key={id}>
                    <Checkbox
                      checked={binding !== undefined}
                      onChange={() => toggle(id)}
                      label={
                        <span className="flex items-center gap-2">
                          {name} {status !== "connected" && <Badge tone="warn">Not connected</Badge>}
                        </span>
                      }
                    />
                    {binding && (
                      <ServerTools
                        binding={binding}
                        onChange={(after) => onChange(servers.map((server) => (server.id === id ? after : server)))}
                      />
                    )}
                  </li>
                );
              })}
              {gone.map(({ id }) => (
                <li key={id}>
                  <Checkbox checked onChange={() => toggle(id)} label={<code>{id} (deleted)</code>} />
                </li>
              ))}
            </ul>
          );
        }}
      </Loaded>
    </Section>
  );
}
