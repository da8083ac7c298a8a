import { Link } from "@tanstack/react-router";
import type { SecretUses } from "./secret-users.rules.ts";

export function SecretUsers({ uses }: { uses: SecretUses | undefined }) {
  if (uses === undefined) return <span className="text-muted">…</span>;
  const { models, providers } = uses;
  if (models.length + providers.length === 0) return <span className="text-muted">Not used</span>;
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
      {providers.map((provider) => (
        <li key={provider}>
          Provider{" "}
          <Link to="/models/connect" search={{ provider }} className="text-accent hover:underline">
            {provider}
          </Link>
        </li>
      ))}
    </ul>
  );
}
