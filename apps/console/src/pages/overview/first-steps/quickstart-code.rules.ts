/** A model that the first call can use. */
export interface FirstModel {
  endpointId: string;
  kind: "text" | "image";
}

interface Call {
  path: string;
  body: Record<string, unknown>;
  /** Where the answer is, which is the same in Python and TypeScript. */
  answer: string;
  dots: string;
}

function callOf({ endpointId, kind }: FirstModel): Call {
  if (kind === "image") {
    return {
      path: "/v1/images/generations",
      body: { model: endpointId, prompt: "A lighthouse at dawn", response_format: "url" },
      answer: '["data"][0]["url"]',
      dots: ".data[0].url",
    };
  }
  return {
    path: "/v1/chat/completions",
    body: { model: endpointId, messages: [{ role: "user", content: "Say hello in three languages." }] },
    answer: '["choices"][0]["message"]["content"]',
    dots: ".choices[0].message.content",
  };
}

export interface Snippet {
  label: string;
  language: string;
  text: string;
}

/** Code that runs as it is pasted: with the key in it, and without packages to install. */
export function quickstartCode(origin: string, key: string, model: FirstModel): Snippet[] {
  const { path, body, answer, dots } = callOf(model);
  const json = JSON.stringify(body);
  const url = `${origin}${path}`;
  return [
    {
      label: "curl",
      language: "bash",
      text: `curl ${url} \\
  -H "Authorization: Bearer ${key}" \\
  -H "Content-Type: application/json" \\
  -d '${json.replaceAll("'", `'\\''`)}'`,
    },
    {
      label: "Python",
      language: "python",
      text: `import json
from urllib.request import Request, urlopen

request = Request(
    "${url}",
    headers={"Authorization": "Bearer ${key}", "Content-Type": "application/json"},
    data=json.dumps(${json}).encode(),
)
with urlopen(request) as response:
    print(json.load(response)${answer})`,
    },
    {
      label: "TypeScript",
      language: "typescript",
      text: `const response = await fetch("${url}", {
  method: "POST",
  headers: { Authorization: "Bearer ${key}", "Content-Type": "application/json" },
  body: JSON.stringify(${json}),
});
const answer: any = await response.json();
console.log(answer${dots});`,
    },
  ];
}
