import type { ProviderRecord, ProviderType } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useSession } from "../../../shell/session.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Loaded } from "../../../ui/notice.tsx";
import { allTypes, presetOf } from "../provider-form.rules.ts";
import { providersQuery, useMayShare } from "../provider-scope.ts";
import type { ConnectSearch } from "./connect-search.rules.ts";

export function ChooseType() {
  return (
    <div className="flex flex-col gap-6">
      {useMayShare() && <FoundOnes />}
      <Group title="Your own server" types={allTypes.filter((type) => !presetOf(type).isHosted)} />
      <Group title="Vendors" types={allTypes.filter((type) => presetOf(type).isHosted)} />
    </div>
  );
}

/** Servers that answered on this machine, and vendors whose key is in the server's environment. */
function FoundOnes() {
  const { username } = useSession();
  const providers = useQuery(providersQuery("everyone", username));
  return (
    <Loaded query={providers}>
      {(all) => {
        const found = all.filter(({ source }) => source !== "saved");
        return found.length === 0 ? null : (
          <Cards title="Found on the server">
            {found.map((provider) => (
              <Card
                key={provider.name}
                title={presetOf(provider.type).label}
                search={{ provider: provider.name, for: "everyone" }}
                badge={<Badge tone="good">{provider.source === "found" ? "Running" : "Key is set"}</Badge>}
              >
                {foundText(provider)}
              </Card>
            ))}
          </Cards>
        );
      }}
    </Loaded>
  );
}

function foundText({ source, url, type, models }: ProviderRecord): string {
  const where = source === "found" ? (url ?? presetOf(type).url ?? "") : "From the server's environment";
  return models === 0 ? where : `${where}, ${models} imported`;
}

function Group({ title, types }: { title: string; types: readonly ProviderType[] }) {
  return (
    <Cards title={title}>
      {types.map((type) => (
        <Card key={type} title={presetOf(type).label} search={{ type }}>
          {hintOf(type)}
        </Card>
      ))}
    </Cards>
  );
}

const hints: Partial<Record<ProviderType, string>> = {
  comfyui: "Workflows for images and video",
  cog: "A container with one model",
  "openai-compatible": "LiteLLM, TGI, a gateway and others",
  "azure-deployments": "API key and the resource's address",
};

function hintOf(type: ProviderType): string {
  const { url, isHosted } = presetOf(type);
  const needs = isHosted ? (url === undefined ? "API key and address" : "API key") : (url ?? "The server's address");
  return hints[type] ?? needs;
}

function Cards({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="flex flex-col gap-2">
      <h3 className="font-medium text-muted">{title}</h3>
      <ul aria-label={title} className="grid gap-2 sm:grid-cols-2 lg:grid-cols-3">
        {children}
      </ul>
    </section>
  );
}

interface CardProps {
  title: string;
  search: ConnectSearch;
  badge?: ReactNode;
  children: ReactNode;
}

function Card({ title, search, badge, children }: CardProps) {
  return (
    <li className="flex">
      <Link
        to="/models/connect"
        search={search}
        className="min-w-0 flex-1 rounded-lg border border-line bg-panel p-3 hover:border-accent"
      >
        <span className="flex flex-wrap items-center gap-2 font-medium">
          {title} {badge}
        </span>
        <span className="mt-0.5 block truncate text-muted text-xs">{children}</span>
      </Link>
    </li>
  );
}
