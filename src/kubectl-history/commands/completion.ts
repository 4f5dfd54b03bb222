import type { CommandArguments } from '../arguments.ts';
import type { Command, Session } from '../session.ts';
import { UsageError } from '../usage-error.ts';

export const completion: Command = {
  name: 'completion',
  usage: '(bash | zsh | fish | kubectl)',
  summary: 'completion for a shell, or for kubectl itself',
  notes: [
    'kubectl asks a program of the name kubectl_complete-history. npm link brings it; where the plugin was copied, make it:',
    '  kubectl history completion kubectl > ~/bin/kubectl_complete-history && chmod +x ~/bin/kubectl_complete-history',
    'The others are for kubectl-history, called by that name.',
  ],
  takes: [],
  examples: [
    ['completion bash > /etc/bash_completion.d/kubectl-history', 'for all users of bash'],
    ['completion zsh > /usr/local/share/zsh/site-functions/_kubectl-history', 'for all users of zsh'],
    ['completion fish > ~/.config/fish/completions/kubectl-history.fish', 'for your fish'],
  ],
  run,
};

/** bash splits words at = and :, and replaces the text after the last of them. It may be as old as macOS's 3.2. */
const BASH = `# bash completion of kubectl-history
_kubectl_history() {
  local line word part typed='' no_space='' last=-1
  local -a words
  for part in "\${COMP_WORDS[@]:1:COMP_CWORD}"; do
    if [[ $last -ge 0 && ( $part == [=:]* || $typed == *[=:] ) ]]; then typed+=$part
    else last=$((last + 1)); typed=$part
    fi
    words[last]=$typed
  done
  COMPREPLY=()
  while IFS= read -r line; do
    case "$line" in
      :6) no_space=1 ;;
      :*) ;;
      *)
        word="\${line%%$'\\t'*}"
        [[ $typed == *:* ]] && word="\${word#"\${typed%:*}:"}"
        COMPREPLY+=("$word")
        ;;
    esac
  done < <(kubectl-history __complete "\${words[@]}" 2>/dev/null)
  [[ -n $no_space ]] && compopt -o nospace 2>/dev/null
  return 0
}
complete -o nosort -F _kubectl_history kubectl-history 2>/dev/null || complete -F _kubectl_history kubectl-history
`;

const ZSH = `#compdef kubectl-history
_kubectl_history() {
  local line word
  local -a found space
  while IFS= read -r line; do
    case "$line" in
      :6) space=(-S '') ;;
      :*) ;;
      *)
        word="\${\${line%%$'\\t'*}//:/\\\\:}"
        [[ "$line" == *$'\\t'* ]] && word+=":\${line#*$'\\t'}"
        found+=("$word")
        ;;
    esac
  done < <(kubectl-history __complete "\${(@Q)words[2,CURRENT]}" 2>/dev/null)
  compset -P '-*='
  _describe -V 'kubectl history' found "\${space[@]}"
}
if [ "$funcstack[1]" = "_kubectl_history" ]; then _kubectl_history; else compdef _kubectl_history kubectl-history; fi
`;

const FISH = `# fish completion of kubectl-history
function __kubectl_history
  set -l typed (commandline -ct)
  set -l words (commandline -opc) $typed
  set -l flag (string match -r -- '^-.*=' "$typed")
  for line in (kubectl-history __complete $words[2..] 2>/dev/null | string match -v ':*')
    echo "$flag$line"
  end
end
complete -c kubectl-history -f -k -a '(__kubectl_history)'
`;

const KUBECTL = `#!/bin/sh
exec kubectl history __complete "$@"
`;

const SCRIPTS: ReadonlyMap<string, string> = new Map([
  ['bash', BASH],
  ['zsh', ZSH],
  ['fish', FISH],
  ['kubectl', KUBECTL],
]);

async function run({ screen }: Session, { words }: CommandArguments): Promise<number> {
  const [shell = '', ...others] = words;
  const script = SCRIPTS.get(shell);
  if (script === undefined || others.length > 0) {
    throw new UsageError(
      `completion needs one of ${[...SCRIPTS.keys()].join(', ')}${shell === '' ? '' : `, not ${JSON.stringify(words.join(' '))}`}`,
    );
  }
  await screen.write(script);
  return 0;
}
