import type { ModelCard } from "@gantry/sdk";
import { Link } from "@tanstack/react-router";
import { ModelBadges } from "./model-badges.tsx";
import { priceParts } from "./price.rules.ts";

export function ModelRow({ card }: { card: ModelCard }) {
  const { owner, name, title, endpoint_id, description, pricing } = card;
  return (
    <li className="relative flex flex-col gap-x-6 gap-y-2 border-line border-b px-4 py-3 last:border-b-0 hover:bg-sunken/60 sm:flex-row">
      <div className="min-w-0 flex-1">
        <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
          {/* The link covers the whole row. */}
          <Link
            to="/models/$owner/$name"
            params={{ owner, name }}
            className="min-w-0 truncate font-medium after:absolute after:inset-0 hover:underline"
          >
            {title}
          </Link>
          <ModelBadges card={card} />
        </div>
        <code className="block truncate text-muted text-xs">{endpoint_id}</code>
        {description && <p className="mt-1 line-clamp-2 text-muted">{description}</p>}
      </div>
      <ul aria-label="Price" className="shrink-0 text-muted sm:w-56 sm:text-right">
        {priceParts(pricing).map((part) => (
          <li key={part}>{part}</li>
        ))}
      </ul>
    </li>
  );
}
