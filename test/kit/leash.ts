import { type ChildProcess, spawn } from 'node:child_process';

/**
 * Processes that tests start end with the process that started them, however that ends: a test that times out or a run that is
 * interrupted would leave them behind. A shell knows their ids and waits for the end of a pipe whose other end we hold.
 */
const SCRIPT = `
  held=' '
  while read -r verb pid; do
    case "$verb" in
      hold) held="$held$pid " ;;
      drop) held="\${held%% "$pid" *} \${held#* "$pid" }" ;;
    esac
  done
  for pid in $held; do kill -KILL "$pid" 2>/dev/null; done`;

let shell: ChildProcess | undefined;

/** Answers the child. */
export function onLeash<Child extends ChildProcess>(child: Child): Child {
  const { pid } = child;
  if (pid === undefined) return child;
  shell ??= startShell();
  const { stdin } = shell;
  stdin?.write(`hold ${pid}\n`);
  child.once('exit', () => stdin?.write(`drop ${pid}\n`));
  return child;
}

function startShell(): ChildProcess {
  const started = spawn('/bin/sh', ['-c', SCRIPT, 'pg-apiserver-leash'], {
    // Out of reach of ctrl-C.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  started.unref();
  const { stdin } = started;
  stdin.on('error', () => {});
  if ('unref' in stdin && typeof stdin.unref === 'function') stdin.unref();
  return started;
}
