import { type ChildProcess, spawn } from 'node:child_process';
import type { CommandArguments } from '../arguments.ts';
import { isNoSuchPath, type Kubectl, ServerError } from '../kubectl.ts';
import type { Command, Session } from '../session.ts';
import { toShown } from '../shown-text.ts';
import { CommandError, UsageError } from '../usage-error.ts';

export const console: Command = {
  name: 'console',
  usage: '',
  summary: "opens the cluster's history in a browser, through kubectl proxy, until Ctrl-C",
  notes: [
    'Whoever uses this machine can reach the page meanwhile, with your rights: it listens on 127.0.0.1 alone.',
  ],
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
  const proxy = kubectl.start(['proxy', '--address=127.0.0.1', `--port=${port}`]);
  const stop = (): void => void proxy.kill();
  signal.addEventListener('abort', stop, { once: true });
  try {
    const address = `http://${await addressOf(proxy)}${PATH}`;
    await screen.write(`${address}\n`);
    if (!args.has('noOpen')) open(address, env);
    if (screen.isTerminal) screen.tell('Ctrl-C ends it.');
    const code = await new Promise<number | null>((resolve) => proxy.once('close', resolve));
    if (!signal.aborted) throw new CommandError(`kubectl proxy ended with ${code}`);
    throw new CommandError('interrupted');
  } finally {
    signal.removeEventListener('abort', stop);
    stop();
  }
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

/** `Starting to serve on 127.0.0.1:8001` */
function addressOf(proxy: ChildProcess): Promise<string> {
  let said = '';
  proxy.stdin?.end();
  return new Promise((resolve, reject) => {
    const look = (chunk: Buffer): void => {
      said += chunk.toString();
      const [, address] = /serve on (127\.0\.0\.1:\d+)/.exec(said) ?? [];
      if (address !== undefined) resolve(address);
    };
    proxy.stdout?.on('data', look);
    proxy.stderr?.on('data', look);
    proxy.once('error', (error) => reject(new CommandError(`kubectl cannot be run: ${error.message}`)));
    proxy.once('close', () =>
      reject(new CommandError(`kubectl proxy does not start: ${toShown(said.trim())}`)),
    );
  });
}

/** Where no browser can be opened the printed address has to do. */
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
