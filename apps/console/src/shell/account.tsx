import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { LogOut, Moon, Sun } from "lucide-react";
import { errorText } from "../ui/error-text.rules.ts";
import { toast } from "../ui/toast.ts";
import { limitsOf } from "./key-access.rules.ts";
import { useSession } from "./session.ts";
import { leave } from "./session-watch.ts";
import { chooseTheme, useTheme } from "./theme.ts";

export function Account() {
  const { username: owner, person, teamRole, key } = useSession();
  const username = person ?? owner;
  const limits = limitsOf(key);
  const theme = useTheme();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const signOut = async () => {
    try {
      await leave(queries);
      await navigate({ to: "/sign-in" });
    } catch (error) {
      toast(errorText(error), "bad");
    }
  };
  const icon = "rounded p-1.5 text-muted hover:bg-sunken hover:text-ink";
  return (
    <div className="flex items-center justify-between gap-1 border-line border-t px-3 py-2">
      <div className="min-w-0">
        <p className="truncate font-medium" title={username}>
          {username}
        </p>
        {teamRole && <p className="truncate text-muted text-xs">{`For ${owner}, as ${teamRole}`}</p>}
        {limits.length > 0 && (
          <div className="text-muted text-xs">
            {[`Key: ${key.name}`, ...limits].map((text) => (
              <p key={text} className="line-clamp-2" title={text}>
                {text}
              </p>
            ))}
          </div>
        )}
      </div>
      <span className="flex shrink-0">
        <button
          type="button"
          aria-label={theme === "dark" ? "Switch to light mode" : "Switch to dark mode"}
          className={icon}
          onClick={() => chooseTheme(theme === "dark" ? "light" : "dark")}
        >
          {theme === "dark" ? <Sun size={15} /> : <Moon size={15} />}
        </button>
        <button type="button" aria-label="Sign out" className={icon} onClick={() => void signOut()}>
          <LogOut size={15} />
        </button>
      </span>
    </div>
  );
}
