import { Link } from "@tanstack/react-router";
import { linkClass } from "../../ui/link.tsx";
import { chapters, nameOfSlug } from "./docs-files.ts";

export function DocsMenu({ slug }: { slug: string }) {
  return (
    <nav aria-label="Documentation" className="order-1 flex shrink-0 flex-col gap-1 lg:order-2 lg:w-60">
      {chapters.map(({ name, slugs }) => (
        <details key={name} open={slugs.includes(slug)} className="rounded-lg border border-line bg-panel px-4 py-2">
          <summary className="font-medium">{name}</summary>
          <ul className="mt-1 flex flex-col gap-1 pb-1">
            {slugs.map((to) => (
              <li key={to}>
                <Link
                  to="/docs/$"
                  params={{ _splat: to }}
                  aria-current={to === slug ? "page" : undefined}
                  className={`${linkClass} aria-[current=page]:font-medium aria-[current=page]:text-ink`}
                >
                  {nameOfSlug(to)}
                </Link>
              </li>
            ))}
          </ul>
        </details>
      ))}
    </nav>
  );
}
