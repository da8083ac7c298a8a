import type { ModelCard } from "@gantry/sdk";
import { Link } from "@tanstack/react-router";
import { Moment } from "../../ui/moment.tsx";
import { KindIcon } from "./kind-icon.tsx";
import { ModelBadges } from "./model-badges.tsx";
import { priceParts } from "./price.rules.ts";

interface ModelRowProps {
  card: ModelCard;
  /** Undefined if it is not among the newest predictions. */
  lastUsedAt: string | undefined;
}

export function ModelRow({ card, lastUsedAt }: ModelRowProps) {
  const { owner, name, title, endpoint_id, description, pricing, kind } = card;
  return (
    <li className="relative flex gap-3 border-line border-b px-4 py-3 last:border-b-0 hover:bg-sunken/60">
      <KindIcon kind={kind} />
      <div className="flex min-w-0 flex-1 flex-col gap-x-6 gap-y-2 sm:flex-row">
        <div className="min-w-0 flex-1">
          <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
            {/* The link covers the whole row. */}
            <Link
              to="/models/$owner/$name"
              params={{ owner, name }}
              className="min-w-0 truncate font-medium text-accent after:absolute after:inset-0 hover:underline"
            >
              {title}
            </Link>
            <ModelBadges card={card} />
          </div>
          <p className="flex flex-wrap gap-x-2 text-muted text-xs">
            <code className="min-w-0 truncate">{endpoint_id}</code>
            {lastUsedAt !== undefined && (
              <span>
                Last used <Moment at={lastUsedAt} />
              </span>
            )}
          </p>
          {description && <p className="mt-1 line-clamp-2 text-muted">{description}</p>}
        </div>
        <ul aria-label="Price" className="shrink-0 text-muted sm:w-52 sm:text-right">
          {priceParts(pricing).map((part) => (
            <li key={part}>{part}</li>
          ))}
        </ul>
      </div>
    </li>
  );
}
