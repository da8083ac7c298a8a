import { Link } from "@tanstack/react-router";

/** To what one prediction did. `at`: a moment that is known of it, by which it is found. */
export function PredictionLink({ id, at }: { id: string; at: string }) {
  return (
    <Link to="/usage" search={{ prediction: id, at }} className="break-all font-mono text-accent hover:underline">
      {id}
    </Link>
  );
}
