import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { Button } from "../../ui/button.tsx";
import { TextInput } from "../../ui/field.tsx";

/** Opens a user by name, without paging through the list. */
export function OpenUser() {
  const [username, setUsername] = useState("");
  const navigate = useNavigate();
  const open = (event: FormEvent) => {
    event.preventDefault();
    if (username.trim()) void navigate({ to: "/admin/users/$username", params: { username: username.trim() } });
  };
  return (
    <search>
      <form className="flex gap-2" onSubmit={open}>
        <TextInput
          type="search"
          aria-label="Username"
          placeholder="Username"
          className="max-w-44"
          value={username}
          onChange={(event) => setUsername(event.target.value)}
        />
        <Button type="submit" disabled={username.trim() === ""}>
          Open
        </Button>
      </form>
    </search>
  );
}
