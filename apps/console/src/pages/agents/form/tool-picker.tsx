import type { IdpConnectorRecord, ToolRecord, ToolServerRecord } from "@gantry/sdk";
import { useState } from "react";
import { Badge } from "../../../ui/badge.tsx";
import { TextInput } from "../../../ui/field.tsx";
import { TextLink } from "../../../ui/link.tsx";
import { KnownTools } from "./known-tools.tsx";
import { type ServerBinding, ServerTools } from "./server-tools.tsx";
import { isIdentityTool } from "./tool-groups.rules.ts";
import { ToolProvider } from "./tool-provider.tsx";

interface ToolPickerProps {
  tools: readonly ToolRecord[];
  chosen: readonly string[];
  onToggle(id: string): void;
  toolServers: readonly ToolServerRecord[];
  bindings: readonly ServerBinding[];
  onBindings(bindings: ServerBinding[]): void;
  /** Null: no tenant is connected. */
  tenant: IdpConnectorRecord | null;
}

export function ToolPicker({ tools, chosen, onToggle, toolServers, bindings, onBindings, tenant }: ToolPickerProps) {
  const [typed, setTyped] = useState("");
  const wanted = typed.trim();
  const isSearched = wanted !== "";
  const builtIn = tools.filter(({ id }) => !isIdentityTool(id));
  const actions = tools.filter(({ id }) => isIdentityTool(id));
  const known = { chosen, wanted, onToggle };
  const countOf = (some: readonly ToolRecord[]) =>
    `${some.filter(({ id }) => chosen.includes(id)).length} of ${some.length}`;
  const bind = (id: string, binding: ServerBinding | undefined) => {
    const others = bindings.filter((other) => other.id !== id);
    onBindings(binding ? [...others, binding] : others);
  };
  return (
    <div className="rounded-md border border-line">
      <div className="p-2">
        <TextInput
          type="search"
          aria-label="Search tools"
          placeholder="Search tools"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          // Enter would submit the surrounding form.
          onKeyDown={(event) => event.key === "Enter" && event.preventDefault()}
        />
      </div>
      <ToolProvider name="Built in" count={countOf(builtIn)} startsOpen={chosen.length === 0} isSearched={isSearched}>
        <KnownTools tools={builtIn} {...known} />
      </ToolProvider>
      {toolServers.map(({ id, name, status }) => {
        const binding = bindings.find((other) => other.id === id);
        return (
          <ToolProvider
            key={id}
            name={name}
            badge={status === "connected" ? <Badge>Tool server</Badge> : <Badge tone="warn">Not connected</Badge>}
            count={binding ? (binding.tools ? `${binding.tools.length} chosen` : "All tools") : "None"}
            isSearched={isSearched && status === "connected"}
          >
            <ServerTools id={id} binding={binding} wanted={wanted} onChange={(after) => bind(id, after)} />
          </ToolProvider>
        );
      })}
      {tenant && (
        <ToolProvider
          name="Identity tenant"
          badge={<Badge>{tenant.domain}</Badge>}
          count={countOf(actions)}
          isSearched={isSearched}
        >
          <KnownTools tools={actions} {...known} />
        </ToolProvider>
      )}
      <p className="border-line border-t px-3 py-2 text-muted text-xs">
        More tools: <TextLink to="/tool-servers">connect a tool server</TextLink>
        {!tenant && (
          <>
            {" "}
            or <TextLink to="/identity">connect an identity tenant</TextLink> ({actions.length} actions)
          </>
        )}
        .
      </p>
    </div>
  );
}
