import { useQuery } from "@tanstack/react-query";
import { Loaded } from "../../../ui/notice.tsx";
import { serverToolsQuery } from "../../tool-servers/tool-server-queries.ts";
import type { AgentDraft } from "./agent-draft.rules.ts";
import { Choice } from "./choice.tsx";
import { matches } from "./tool-groups.rules.ts";

export type ServerBinding = AgentDraft["mcp_servers"][number];

interface ServerToolsProps {
  id: string;
  /** Undefined: the agent does not use the server. */
  binding: ServerBinding | undefined;
  wanted: string;
  onChange(binding: ServerBinding | undefined): void;
}

/** Loads the tools from the server. */
export function ServerTools({ id, binding, wanted, onChange }: ServerToolsProps) {
  const offered = useQuery(serverToolsQuery(id));
  const hasAll = binding !== undefined && binding.tools === undefined;
  const toggle = (name: string, all: readonly string[]) => {
    const now = hasAll ? all : (binding?.tools ?? []);
    const after = now.includes(name) ? now.filter((tool) => tool !== name) : [...now, name];
    onChange(after.length === 0 ? undefined : { id, tools: after });
  };
  return (
    <Loaded query={offered}>
      {(tools) => {
        const names = tools.map(({ name }) => name);
        const found = tools.filter(({ name, description }) => matches(`${name} ${description ?? ""}`, wanted));
        return (
          <>
            <Choice
              name="All tools"
              description="Also tools that the server adds later."
              isChosen={hasAll}
              onToggle={() => onChange(hasAll ? undefined : { id })}
            />
            {found.map(({ name, description }) => (
              <Choice
                key={name}
                isCode
                name={name}
                description={description}
                isChosen={hasAll || (binding?.tools?.includes(name) ?? false)}
                onToggle={() => toggle(name, names)}
              />
            ))}
            {found.length === 0 && <p className="px-3 py-2 text-muted">No tools match “{wanted}”</p>}
          </>
        );
      }}
    </Loaded>
  );
}
