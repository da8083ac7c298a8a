import { useQueryClient } from "@tanstack/react-query";
import { Link, Outlet, useNavigate, useRouterState } from "@tanstack/react-router";
import { LogOut, Menu, Moon, Sun } from "lucide-react";
import { useEffect, useState } from "react";
import { signOut } from "../api/client.ts";
import { wordsOf } from "../ui/failure-words.rules.ts";
import { toast } from "../ui/toast.ts";
import { places } from "./places.ts";
import { useSession } from "./session.ts";
import { chooseTheme, useTheme } from "./theme.ts";

export function AppShell() {
  const [isOpen, setOpen] = useState(false);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  // biome-ignore lint/correctness/useExhaustiveDependencies: whoever went somewhere wants to see it, not the menu.
  useEffect(() => setOpen(false), [path]);
  return (
    <div className="flex min-h-screen flex-col md:flex-row">
      <a href="#content" className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:bg-panel focus:p-2">
        Skip to the content
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
          <Places />
          <Account />
        </div>
      </aside>
      <main id="content" className="min-w-0 flex-1">
        <Outlet />
      </main>
    </div>
  );
}

function Places() {
  const { role } = useSession();
  return (
    <nav aria-label="Places" className="flex min-h-0 flex-1 flex-col gap-3 overflow-y-auto px-2 pb-3">
      {places
        .filter(({ adminsOnly }) => !adminsOnly || role === "admin")
        .map(({ name, entries }) => (
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

function Account() {
  const { username } = useSession();
  const theme = useTheme();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const leave = async () => {
    try {
      await signOut();
      queries.clear();
      await navigate({ to: "/sign-in" });
    } catch (error) {
      toast(wordsOf(error), "bad");
    }
  };
  const icon = "rounded p-1.5 text-muted hover:bg-sunken hover:text-ink";
  return (
    <div className="flex items-center justify-between gap-1 border-line border-t px-3 py-2">
      <span className="min-w-0 truncate font-medium" title={username}>
        {username}
      </span>
      <span className="flex">
        <button
          type="button"
          aria-label={theme === "dark" ? "Light colours" : "Dark colours"}
          className={icon}
          onClick={() => chooseTheme(theme === "dark" ? "light" : "dark")}
        >
          {theme === "dark" ? <Sun size={15} /> : <Moon size={15} />}
        </button>
        <button type="button" aria-label="Sign out" className={icon} onClick={() => void leave()}>
          <LogOut size={15} />
        </button>
      </span>
    </div>
  );
}
