import { Link } from "@tanstack/react-router";
import { linkClass } from "../../ui/link.tsx";
import { modelParamsOf } from "./prediction-summary.rules.ts";

/** `owner/model` as a link; other names as they are. */
export function ModelName({ name }: { name: string }) {
  const params = modelParamsOf(name);
  if (!params) return <span className="break-all">{name}</span>;
  return (
    <Link to="/models/$owner/$name" params={params} className={`break-all ${linkClass}`}>
      {name}
    </Link>
  );
}
