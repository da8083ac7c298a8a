import { Link } from "@tanstack/react-router";
import { linkClass } from "../../ui/link.tsx";

export function PredictionLink({ id }: { id: string }) {
  return (
    <Link to="/predictions/$id" params={{ id }} className={`break-all font-mono ${linkClass}`}>
      {id}
    </Link>
  );
}
