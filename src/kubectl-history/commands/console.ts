import { spawn } from 'node:child_process';
import type { CommandArguments } from '../arguments.ts';
import { isNoSuchPath, type Kubectl, ServerError } from '../kubectl.ts';
import { startPrivateProxy } from '../private-proxy.ts';
import type { Command, Session } from '../session.ts';
import { CommandError, UsageError } from '../usage-error.ts';

export const console: Command = {
  name: 'console',
  usage: '',
  summary: "opens the cluster's history in a browser, with your kubectl's login, until Ctrl-C",
  notes: ['The address has a secret in it: what knows it acts with your rights until Ctrl-C.'],
  takes: ['port', 'noOpen'],
  examples: [
    ['console', 'open it'],
    ['console --no-open --port 8001', 'only print where it is'],
  ],
  run,
};

const PATH = '/console/';

async function run(session: Session, args: CommandArguments): Promise<number> {
  const { screen, signal, kubectl, env } = session;
  if (args.words.length > 0) throw new UsageError(`console takes no ${JSON.stringify(args.words[0])}`);
  const port = args.count('port') ?? 0;
  if (port > 65_535) throw new UsageError(`--port: ${port} is no port; the last one is 65535`);
  await assertThere(kubectl);
  await using proxy = await startPrivateProxy(kubectl, port);
  const address = `${proxy.address}${PATH.slice(1)}`;
  await screen.write(`${address}\n`);
  if (!args.has('noOpen')) open(address, env);
  if (screen.isTerminal) screen.note('Ctrl-C ends it.');
  const interrupted = new Promise<'interrupted'>((resolve) =>
    signal.addEventListener('abort', () => resolve('interrupted'), { once: true }),
  );
  const end = signal.aborted ? 'interrupted' : await Promise.race([proxy.ended, interrupted]);
  throw new CommandError(end === 'interrupted' ? end : `kubectl proxy ended with ${end}`);
}

async function assertThere(kubectl: Kubectl): Promise<void> {
  try {
    await kubectl.get(PATH);
  } catch (error) {
    const isMissing = isNoSuchPath(error) || (error instanceof ServerError && error.reason === 'NotFound');
    throw isMissing
      ? new CommandError('the server has no console: it is no pg-apiserver, or an older one')
      : error;
  }
}

/** Opens a browser if possible; the address is printed anyway. */
function open(address: string, env: NodeJS.ProcessEnv): void {
  const [program, ...before] =
    process.platform === 'darwin'
      ? ['open']
      : process.platform === 'win32'
        ? ['cmd', '/c', 'start', '']
        : ['xdg-open'];
  const browser = spawn(program ?? 'xdg-open', [...before, address], {
    env,
    stdio: 'ignore',
    detached: true,
  });
  browser.on('error', () => {});
  browser.unref();
}
