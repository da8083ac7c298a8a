import { Link } from "@tanstack/react-router";
import { ChevronRight } from "lucide-react";
import { crumbsOf } from "./drive-path.rules.ts";

export function Breadcrumbs({ driveId, driveName, path }: { driveId: string; driveName: string; path: string }) {
  const crumbs = [{ name: driveName, path: "/" }, ...crumbsOf(path)];
  return (
    <nav aria-label="Folders">
      <ol className="flex flex-wrap items-center gap-1">
        {crumbs.map((crumb, n) => (
          <li key={crumb.path} className="flex min-w-0 items-center gap-1">
            {n > 0 && <ChevronRight size={14} className="shrink-0 text-muted" />}
            {n === crumbs.length - 1 ? (
              <span aria-current="page" className="break-all">
                {crumb.name}
              </span>
            ) : (
              <Link
                to="/drives/$driveId"
                params={{ driveId }}
                search={crumb.path === "/" ? {} : { path: crumb.path }}
                className="break-all font-normal text-accent hover:underline"
              >
                {crumb.name}
              </Link>
            )}
          </li>
        ))}
      </ol>
    </nav>
  );
}
