import type { AgentCard } from "@gantry/sdk";
import { Link } from "@tanstack/react-router";
import { Moment } from "../../ui/moment.tsx";
import { activityText, priceOf } from "./card.rules.ts";

export function MarketplaceCard({ card }: { card: AgentCard }) {
  const { owner, slug, name, description, published_at } = card;
  return (
    <li className="relative flex flex-col gap-2 rounded-lg border border-line bg-panel p-4 hover:border-strong-line">
      <div className="flex items-start justify-between gap-3">
        <h2 className="wrap-anywhere min-w-0 font-semibold">
          <Link
            to="/marketplace/$creator/$slug"
            params={{ creator: owner, slug }}
            className="text-accent after:absolute after:inset-0 after:rounded-lg hover:underline"
          >
            {name}
          </Link>
        </h2>
        <span className="shrink-0 font-medium tabular-nums">{priceOf(card)}</span>
      </div>
      <p className={`line-clamp-3 wrap-anywhere ${description ? "" : "text-muted italic"}`}>
        {description ?? "No description"}
      </p>
      <p className="mt-auto flex flex-wrap justify-between gap-x-3 gap-y-1 pt-2 text-muted text-xs">
        <span>{activityText(card)}</span>
        <span>
          By {owner}, <Moment at={published_at} />
        </span>
      </p>
    </li>
  );
}
