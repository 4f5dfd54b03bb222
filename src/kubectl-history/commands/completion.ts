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
    ['completion fish | source', 'for this fish'],
  ],
  run,
};

const BASH = `# bash completion of kubectl-history
_kubectl_history() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    case "$line" in
      :6) compopt -o nospace ;;
      :*) ;;
      *) COMPREPLY+=("\${line%%$'\\t'*}") ;;
    esac
  done < <(kubectl-history __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o nosort -F _kubectl_history kubectl-history
`;

const ZSH = `#compdef kubectl-history
_kubectl_history() {
  local line
  local -a found
  while IFS= read -r line; do
    case "$line" in
      :*) ;;
      *) found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}") ;;
    esac
  done < <(kubectl-history __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)
  _describe 'kubectl history' found
}
compdef _kubectl_history kubectl-history
`;

const FISH = `# fish completion of kubectl-history
function __kubectl_history
  set -l words (commandline -opc) (commandline -ct)
  kubectl-history __complete $words[2..] 2>/dev/null | string match -v ':*'
end
complete -c kubectl-history -f -a '(__kubectl_history)'
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
