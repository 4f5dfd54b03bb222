import { workerData } from 'node:worker_threads';
import { nearestName } from '../options/checks.ts';
import { UsageError } from '../options/flag.ts';
import { formatCommandHelp, formatHelp } from '../options/help.ts';
import { helpAndVersion } from '../options/help-and-version.ts';
import { hidePasswords } from '../util/hidden-passwords.ts';
import { describeVersion, readBuild, VERSION } from '../version.ts';
import { COMMANDS, serveWith } from './commands.ts';
import { explainRefusal } from './explain-refusal.ts';
import { isShapingStart } from './transfer/shaping-start.ts';

/** Runs a command and returns its exit code. 2: wrong command line. 1: the command failed. */
export async function run(args: readonly string[]): Promise<number> {
  expectLostOutput(args);
  const { help, reportedVersion } = helpAndVersion;
  if (args.includes(help.shown) || args.includes('-h') || isHelp(args)) {
    process.stdout.write(await describe((isHelp(args) ? args[1] : args[0]) ?? ''));
    return 0;
  }
  const { shown } = reportedVersion;
  const version = args.find((argument) => [shown, `${shown}=true`, `${shown}=raw`].includes(argument));
  if (version !== undefined) {
    const raw = { ...VERSION, gitCommit: readBuild().commit };
    process.stdout.write(`${version === `${shown}=raw` ? JSON.stringify(raw) : describeVersion()}\n`);
    return 0;
  }
  hideFromProcessList();
  try {
    await runCommand(args);
    return 0;
  } catch (error) {
    process.stderr.write(`pg-apiserver: ${hidePasswords(explainRefusal(error))}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

/** What a shell reports of a program that SIGPIPE has ended. */
const ENDED_BY_SIGPIPE = 141;

/**
 * A server goes on when what it says has no reader any more, or no room on a disk. A command whose results are lost ends: in
 * silence where the reader has read enough (`verify --from=… | head`).
 */
function expectLostOutput([name = 'start']: readonly string[]): void {
  const isServer = name === 'start' || name.startsWith('-');
  process.stderr.on('error', () => {});
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    if (isServer) return;
    if (code === 'EPIPE') process.exit(ENDED_BY_SIGPIPE);
    process.stderr.write(`pg-apiserver: the output could not be written: ${message}\n`);
    process.exit(1);
  });
}

/** `help`, and `help import` */
const isHelp = ([first, name, ...others]: readonly string[]): boolean =>
  first === 'help' &&
  others.length === 0 &&
  (name === undefined || COMMANDS.some((one) => one.name === name));

/** One command where help is asked of it, and all of them with every flag otherwise. A start has the flags of the server. */
async function describe(name: string): Promise<string> {
  const { kubeadmFlags } = await import('./kubeadm/kubeadm-flags.ts');
  const kubeadm = { heading: 'kubeadm-config', flags: Object.values(kubeadmFlags) };
  const command = COMMANDS.find((one) => one.name === name && name !== 'start');
  if (command !== undefined) return formatCommandHelp(command, name === kubeadm.heading ? [kubeadm] : []);
  const { SECTIONS } = await import('../options/all-flags.ts');
  return formatHelp([...SECTIONS, kubeadm], COMMANDS);
}

async function runCommand(args: readonly string[]): Promise<void> {
  const [name = 'start', ...others] = args[0] === 'help' ? args.slice(1) : args;
  const command = COMMANDS.find((one) => one.name === name);
  if (command !== undefined) return command.run(others);
  if (!name.startsWith('-')) throw unknownCommand(name);
  return serveWith(args);
}

function unknownCommand(name: string): UsageError {
  const nearest = nearestName(
    name,
    COMMANDS.map((command) => command.name),
  );
  const hint =
    nearest === undefined ? `${helpAndVersion.help.shown} lists the commands` : `did you mean ${nearest}?`;
  return new UsageError(`there is no command ${JSON.stringify(hidePasswords(name))}: ${hint}`);
}

/** Hides arguments with secrets: setting the title overwrites what `ps` shows. */
function hideFromProcessList(): void {
  const shown = process.argv.map(hidePasswords);
  if (shown.some((argument, at) => argument !== process.argv[at])) process.title = shown.join(' ');
}

/** Runs in a thread that this program has begun: one that shapes objects, or one of a server, which resolves when it serves. */
export async function runThread(): Promise<void> {
  if (isShapingStart(workerData)) (await import('./transfer/shaping-thread.ts')).shapeForOthers(workerData);
  else await (await import('./thread-entry.ts')).serveThread();
}
