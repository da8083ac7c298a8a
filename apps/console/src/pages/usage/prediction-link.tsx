import { Link } from "@tanstack/react-router";

/** `at`: about when the prediction ended, which is needed to find it. */
export function PredictionLink({ id, at }: { id: string; at: string }) {
  return (
    <Link to="/usage" search={{ prediction: id, at }} className="break-all font-mono text-accent hover:underline">
      {id}
    </Link>
  );
}
