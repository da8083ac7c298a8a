import { Link } from "@tanstack/react-router";
import { Check } from "lucide-react";
import { templateNeeds } from "./template-needs.rules.ts";
import { templates } from "./templates.ts";

const card =
  "relative flex h-full flex-col gap-1 rounded-lg border bg-panel p-3 hover:border-strong-line " +
  "aria-[current=true]:border-accent aria-[current=true]:bg-accent-soft";

/** Ways to begin. Choosing one fills the form. */
export function TemplateCards({ chosen }: { chosen: string | undefined }) {
  return (
    <nav aria-label="Templates">
      <ul className="grid grid-cols-2 gap-2 sm:gap-3 lg:grid-cols-4">
        <li>
          <Template name="Blank" text="Start from an empty form." isChosen={chosen === undefined} />
        </li>
        {templates.map(({ id, draft, setup }) => (
          <li key={id}>
            <Template
              id={id}
              name={draft.name}
              text={draft.description ?? ""}
              needs={templateNeeds(draft, setup)}
              isChosen={chosen === id}
            />
          </li>
        ))}
      </ul>
    </nav>
  );
}

interface TemplateProps {
  id?: string;
  name: string;
  text: string;
  needs?: string;
  isChosen: boolean;
}

function Template({ id, name, text, needs, isChosen }: TemplateProps) {
  return (
    <Link
      to="/agents/new"
      search={id === undefined ? {} : { template: id }}
      activeOptions={{ exact: true, includeSearch: true }}
      aria-current={isChosen ? "true" : undefined}
      className={`${card} ${isChosen ? "border-accent" : "border-line"}`}
    >
      <span className="flex items-center justify-between gap-2 font-semibold">
        {name}
        {isChosen && <Check size={14} aria-hidden className="shrink-0 text-accent" />}
      </span>
      <span className="line-clamp-2 text-muted text-xs sm:line-clamp-none sm:text-sm">{text}</span>
      {needs && <span className="mt-auto hidden pt-1 text-muted text-xs sm:block">{needs}</span>}
    </Link>
  );
}
