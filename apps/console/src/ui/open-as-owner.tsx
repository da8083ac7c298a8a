import { GantryError } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { actingTeam, switchTo } from "../api/acting-team.ts";
import { allTeamsQuery } from "../pages/teams/teams-query.ts";
import { Button } from "./button.tsx";

/** Not found, or a private model. */
export const isOfAnother = (error: unknown): boolean =>
  error instanceof GantryError &&
  (error.status === 404 || error.message === "API key does not have access to the project");

/** What one owner does not have, another may: a new tab acts for the person. */
export function OpenAsOwner() {
  // The sidebar loads the teams of those who may see them.
  const { data: teams = [] } = useQuery({ ...allTeamsQuery, enabled: false });
  const acting = actingTeam();
  const others = teams.filter(({ name }) => name !== acting);
  if (acting === undefined && others.length === 0) return null;
  const here = location.href;
  return (
    <div className="mt-3 flex flex-wrap justify-center gap-2">
      {acting !== undefined && <Button onClick={() => switchTo(undefined, here)}>Open as yourself</Button>}
      {others.map(({ name }) => (
        <Button key={name} onClick={() => switchTo(name, here)}>
          Open as team {name}
        </Button>
      ))}
    </div>
  );
}
