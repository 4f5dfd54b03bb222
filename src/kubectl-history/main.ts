import { basename } from 'node:path';
import { run } from './run-plugin.ts';

/** `kubectl history`. Under its other name it completes command lines for kubectl. */
const isCompleting = basename(process.argv[1] ?? '').startsWith('kubectl_complete');
const args = process.argv.slice(2);
const interrupted = new AbortController();

// SIGHUP: the terminal was closed. Child processes such as kubectl proxy must end too.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    // A second signal exits at once, without waiting for a pager or kubectl.
    if (interrupted.signal.aborted) process.exit(130);
    interrupted.abort();
  });
}

run(isCompleting ? ['__complete', ...args] : args, {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  now: new Date(),
  signal: interrupted.signal,
}).then((code) => {
  process.exitCode = code;
});
