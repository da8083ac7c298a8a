import { useQuery } from "@tanstack/react-query";
import { Checkbox } from "../../../ui/field.tsx";
import { Loaded } from "../../../ui/notice.tsx";
import { serverToolsQuery } from "../../tool-servers/tool-server-queries.ts";
import type { AgentDraft } from "./agent-draft.rules.ts";

type Binding = AgentDraft["mcp_servers"][number];

/** Loads the tools from the server. */
export function ServerTools({ binding, onChange }: { binding: Binding; onChange(binding: Binding): void }) {
  const { id, tools: chosen } = binding;
  const offered = useQuery(serverToolsQuery(id));
  const toggle = (name: string) => {
    const now = chosen ?? [];
    onChange({ id, tools: now.includes(name) ? now.filter((tool) => tool !== name) : [...now, name] });
  };
  return (
    <div className="mt-2 ml-6 flex flex-col gap-1.5">
      <Loaded query={offered}>
        {(tools) => (
          <>
            <Checkbox
              checked={chosen === undefined}
              onChange={() => onChange(chosen === undefined ? { id, tools: tools.map(({ name }) => name) } : { id })}
              label={`All tools (currently ${tools.length})`}
            />
            {chosen !== undefined && (
              <div className="ml-6 flex max-h-64 flex-col gap-1.5 overflow-y-auto">
                {tools.map(({ name, description }) => (
                  <Checkbox
                    key={name}
                    checked={chosen.includes(name)}
                    onChange={() => toggle(name)}
                    label={
                      <span className="block" title={description}>
                        <code className="break-all">{name}</code>
                        <span className="line-clamp-2 text-muted text-xs">{description}</span>
                      </span>
                    }
                  />
                ))}
              </div>
            )}
          </>
        )}
      </Loaded>
    </div>
  );
}
