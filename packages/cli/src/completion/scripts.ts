import type { Context } from "../frame/command.ts";

/** `gantry __complete` answers `word<tab>meaning` lines; each script hands them to its shell. */
const scripts: Readonly<Record<string, string>> = {
  // Bash splits words at = and :, so the whole line is sent, and candidates are cut to the part after the last of them.
  bash: `_gantry() {
  local line word typed current
  typed="\${COMP_LINE:0:COMP_POINT}"
  current="\${COMP_WORDS[COMP_CWORD]}"
  [[ "$current" == [=:] ]] && current=""
  word="\${typed##*[[:space:]]}"
  COMPREPLY=()
  while IFS=$'\\n' read -r line; do
    line="\${line%%$'\\t'*}"
    [[ "\${#word}" -gt "\${#current}" ]] && line="\${line:$((\${#word} - \${#current}))}"
    [[ "$line" == *[/=@] ]] && compopt -o nospace 2>/dev/null
    COMPREPLY+=("$(printf '%q' "$line")")
  done < <("\${COMP_WORDS[0]}" __complete --line "$typed" 2>/dev/null)
}
complete -o nosort -F _gantry gantry 2>/dev/null || complete -F _gantry gantry
`,
  zsh: `#compdef gantry
_gantry() {
  local line value
  local -a plain open plain_shown open_shown
  while IFS= read -r line; do
    value="\${line%%$'\\t'*}"
    local shown="$value"
    [[ "$line" == *$'\\t'* ]] && shown="$value  -- \${line#*$'\\t'}"
    if [[ "$value" == *[/=@] ]]; then open+=("$value"); open_shown+=("$shown")
    else plain+=("$value"); plain_shown+=("$shown"); fi
  done < <("\${words[1]}" __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  (( \${#plain} )) && compadd -l -d plain_shown -- "\${plain[@]}"
  (( \${#open} )) && compadd -l -S '' -d open_shown -- "\${open[@]}"
  return 0
}
if [[ "\${funcstack[1]}" == _gantry ]]; then _gantry "$@"; else compdef _gantry gantry; fi
`,
  fish: `function __gantry_complete
  set -l words (commandline -opc) (commandline -ct)
  $words[1] __complete -- $words[2..-1] 2>/dev/null
end
complete -c gantry -f -a '(__gantry_complete)'
`,
};

export async function printScript({ words: [shell = ""], out }: Context): Promise<number> {
  await out.text(scripts[shell] ?? "");
  return 0;
}
