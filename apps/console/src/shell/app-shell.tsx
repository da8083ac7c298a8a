import { Link, Outlet, useRouterState } from "@tanstack/react-router";
import { Menu } from "lucide-react";
import { useEffect, useState } from "react";
import { Account } from "./account.tsx";
import { mayOpen } from "./key-access.rules.ts";
import { preloadPagesWhenIdle } from "./lazy-page.ts";
import { navigation } from "./navigation.ts";
import { useSession } from "./session.ts";
import { SessionEnded } from "./session-ended.tsx";
import { StatusBanner } from "./status-banner.tsx";

export function AppShell() {
  const [isOpen, setOpen] = useState(false);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the menu closes after navigation.
  useEffect(() => setOpen(false), [path]);
  useEffect(preloadPagesWhenIdle, []);
  return (
    <div className="flex min-h-screen flex-col md:flex-row">
      <a href="#content" className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:bg-panel focus:p-2">
        Skip to content
      </a>
      <aside className="border-line border-b bg-panel md:sticky md:top-0 md:flex md:h-screen md:w-56 md:shrink-0 md:flex-col md:border-r md:border-b-0">
        <div className="flex items-center justify-between px-4 py-3">
          <Link to="/" className="flex items-center gap-2 font-semibold text-base tracking-tight">
            <img src={`${import.meta.env.BASE_URL}mark.svg`} alt="" className="size-6" /> Gantry
          </Link>
          <button
            type="button"
            aria-label="Menu"
            aria-expanded={isOpen}
            className="rounded p-1 md:hidden"
            onClick={() => setOpen(!isOpen)}
          >
            <Menu size={18} />
          </button>
        </div>
        <div className={`${isOpen ? "flex" : "hidden"} min-h-0 flex-1 flex-col md:flex`}>
          <Navigation />
          <Account />
        </div>
      </aside>
      <main id="content" className="min-w-0 flex-1">
        <StatusBanner />
        <Outlet />
      </main>
      <SessionEnded />
    </div>
  );
}

function Navigation() {
  const { role, key } = useSession();
  const shown = navigation
    .filter(({ adminsOnly }) => !adminsOnly || role === "admin")
    .map(({ name, entries }) => ({ name, entries: entries.filter(({ openTo }) => mayOpen(key, openTo)) }))
    .filter(({ entries }) => entries.length > 0);
  return (
    <nav aria-label="Main" className="flex min-h-0 flex-1 flex-col gap-3 overflow-y-auto px-2 pb-3">
      {shown.map(({ name, entries }) => (
        <div key={name ?? "first"}>
          {name && <p className="px-2 pt-1 pb-0.5 font-medium text-muted text-xs">{name}</p>}
          {entries.map(({ to, label, icon: Icon }) => (
            <Link
              key={to}
              to={to}
              activeOptions={{ exact: to === "/" || to === "/admin" }}
              className="flex items-center gap-2 rounded-md px-2 py-1.5 text-muted hover:bg-sunken hover:text-ink [&.active]:bg-accent-soft [&.active]:font-medium [&.active]:text-accent"
            >
              <Icon size={15} /> {label}
            </Link>
          ))}
        </div>
      ))}
    </nav>
  );
}
