import { Link } from "@tanstack/react-router";

export function SecretUsers({ models }: { models: readonly string[] | undefined }) {
  if (models === undefined) return <span className="text-muted">…</span>;
  if (models.length === 0) return <span className="text-muted">No models</span>;
  return (
    <ul>
      {models.map((model) => {
        const [owner = "", name = ""] = model.split("/");
        return (
          <li key={model}>
            <Link to="/models/$owner/$name" params={{ owner, name }} className="text-accent hover:underline">
              {model}
            </Link>
          </li>
        );
      })}
    </ul>
  );
}
