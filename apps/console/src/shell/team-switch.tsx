import { useQuery } from "@tanstack/react-query";
import { actingTeam, switchTo } from "../api/acting-team.ts";
import { allTeamsQuery } from "../pages/teams/teams-query.ts";
import { Select } from "../ui/field.tsx";
import { mayOpen } from "./key-access.rules.ts";
import { useSession } from "./session.ts";

/** Chooses the owner for which this tab acts. Hidden from people without teams. */
export function TeamSwitch() {
  const { key, person, username } = useSession();
  const teams = useQuery({ ...allTeamsQuery, enabled: mayOpen(key, "unlimited keys") });
  const names = teams.data?.map(({ name }) => name) ?? [];
  const acting = actingTeam();
  if (names.length === 0 && acting === undefined) return null;
  return (
    <div className="border-line border-t px-3 py-2">
      <Select
        aria-label="Act for"
        value={acting ?? ""}
        onChange={(event) => switchTo(event.target.value === "" ? undefined : event.target.value)}
      >
        <option value="">{person ?? username} (you)</option>
        {names.map((name) => (
          <option key={name} value={name}>
            {name} (team)
          </option>
        ))}
      </Select>
    </div>
  );
}
