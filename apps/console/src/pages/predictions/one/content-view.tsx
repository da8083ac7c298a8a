import { getRouteApi } from "@tanstack/react-router";
import { ViewSwitch } from "../../../ui/view-switch.tsx";

const route = getRouteApi("/app/predictions/$id");

const options = [
  { value: "form", label: "Form" },
  { value: "json", label: "JSON" },
] as const;

/** Input and output as values or as JSON. The choice is in the address. */
export function ContentView() {
  const { view = "form" } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <ViewSwitch
      label="Show as"
      options={options}
      value={view}
      onValue={(wanted) =>
        void navigate({ search: wanted === "json" ? { view: wanted } : {}, replace: true, resetScroll: false })
      }
    />
  );
}
