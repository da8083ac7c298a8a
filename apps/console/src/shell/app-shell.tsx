import { Link, Outlet, useLocation } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { ApprovalsBadge } from "../pages/approvals/approvals-badge.tsx";
import { useApprovalsWatch } from "../pages/approvals/use-approvals-watch.ts";
import { MoneyNotices } from "../pages/notices/money-notices.tsx";
import { reveal } from "../ui/reveal.ts";
import { Account } from "./account.tsx";
import { DocsLink } from "./docs-link.tsx";
import { mayOpen } from "./key-access.rules.ts";
import { preloadPagesWhenIdle } from "./lazy-page.ts";
import { navigation } from "./navigation.ts";
import { PaletteButton, PaletteHost } from "./palette/palette-opener.tsx";
import { PhoneMenu } from "./phone-menu.tsx";
import { useSession } from "./session.ts";
import { SessionEnded } from "./session-ended.tsx";
import { StatusBanner } from "./status-banner.tsx";
import { TeamSwitch } from "./team-switch.tsx";

export function AppShell() {
  useEffect(preloadPagesWhenIdle, []);
  useApprovalsWatch();
  const menu = (
    <>
      <Navigation />
      <DocsLink />
      <TeamSwitch />
      <Account />
    </>
  );
  return (
    <div className="flex min-h-screen flex-col md:flex-row">
      <a href="#content" className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:bg-panel focus:p-2">
        Skip to content
      </a>
      <header className="flex items-center justify-between border-line border-b bg-panel px-4 py-3 md:hidden">
        <Brand />
        <span className="flex gap-1">
          <PaletteButton compact />
          <PhoneMenu>{menu}</PhoneMenu>
        </span>
      </header>
      <aside className="sticky top-0 hidden h-screen w-56 shrink-0 flex-col border-line border-r bg-panel md:flex">
        <div className="px-4 py-3">
          <Brand />
        </div>
        <PaletteButton />
        {menu}
      </aside>
      <main id="content" className="min-w-0 flex-1">
        <StatusBanner />
        <MoneyNotices />
        <Outlet />
      </main>
      <SessionEnded />
      <PaletteHost />
    </div>
  );
}

function Brand() {
  return (
    <Link to="/" className="flex items-center gap-2 font-semibold text-base tracking-tight">
      <img src={`${import.meta.env.BASE_URL}mark.svg`} alt="" className="size-6" /> Gantry
    </Link>
  );
}

function Navigation() {
  const { role, key } = useSession();
  const shown = navigation
    .filter(({ adminsOnly }) => !adminsOnly || role === "admin")
    .map(({ name, entries }) => ({ name, entries: entries.filter(({ openTo }) => mayOpen(key, openTo)) }))
    .filter(({ entries }) => entries.length > 0);
  const path = useLocation({ select: ({ pathname }) => pathname });
  const nav = useRef<HTMLElement>(null);
  // On a low screen the list is longer than its place, which the team switch below makes smaller when it has loaded.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another path makes another entry active.
  useEffect(() => {
    const list = nav.current;
    if (!list) return;
    // Observing starts with a call.
    const resized = new ResizeObserver(() => {
      const active = list.querySelector(".active");
      if (active) reveal(list, active);
    });
    resized.observe(list);
    return () => resized.disconnect();
  }, [path]);
  return (
    <nav ref={nav} aria-label="Main" className="flex min-h-0 flex-1 flex-col gap-3 overflow-y-auto px-2 pb-3">
      {shown.map(({ name, entries }) => (
        <div key={name ?? "first"}>
          {name && <p className="px-2 pt-1 pb-0.5 font-medium text-muted text-xs">{name}</p>}
          {entries.map(({ to, label, icon: Icon }) => (
            <Link
              key={to}
              to={to}
              activeOptions={{ exact: to === "/" || to === "/admin" }}
              className="flex items-center gap-2 rounded-md px-2 py-1 text-muted hover:bg-sunken hover:text-ink [&.active]:bg-accent-soft [&.active]:font-medium [&.active]:text-accent"
            >
              <Icon size={15} /> {label}
              {to === "/approvals" && <ApprovalsBadge />}
            </Link>
          ))}
        </div>
      ))}
    </nav>
  );
}
