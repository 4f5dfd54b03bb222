import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { errorText } from '../util/error-text.ts';
import { CommandArguments, type CommandLine, parseCommandLine } from './arguments.ts';
import { closest } from './closest.ts';
import { COMMANDS } from './commands/all-commands.ts';
import { complete, toCompletionText } from './completing.ts';
import { toCommandHelp, toHelp } from './plugin-help.ts';
import { OutputClosed, Screen } from './screen.ts';
import { type Command, createSession, type Session } from './session.ts';
import { UsageError } from './usage-error.ts';

/** The process as the plugin sees it. */
interface World {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean };
  readonly env: NodeJS.ProcessEnv;
  readonly now: Date;
  /** Ctrl-C. */
  readonly signal: AbortSignal;
}

const FAILED = 1;
const MISUSED = 2;
const INTERRUPTED = 130;

/** Arguments → exit code. */
export async function run(args: readonly string[], world: World): Promise<number> {
  if (args[0] === '__complete') return printCompletion(args.slice(1), world);
  // Until the line is parsed: a wrong flag shows the help of its command.
  let command = COMMANDS.find(({ name }) => args.includes(name));
  try {
    const line = parseCommandLine(args);
    const wanted = line.words[0] === 'help' ? line.words[1] : line.words[0];
    command = COMMANDS.find(({ name }) => name === wanted);
    const screen = screenFor(line, world);
    if (wanted !== undefined && command === undefined && wanted !== 'help') throw noSuchCommand(wanted);
    if (command === undefined || line.words[0] === 'help' || line.given.get('help')?.at(-1) === 'true') {
      await screen.write(
        command === undefined ? toHelp(COMMANDS, screen.paint) : toCommandHelp(command, screen.paint),
      );
      return command === undefined && args.length === 0 ? MISUSED : 0;
    }
    return await runOn(screen, command, line, world);
  } catch (error) {
    return report(error, command, world);
  }
}

async function runOn(screen: Screen, command: Command, line: CommandLine, world: World): Promise<number> {
  try {
    return await command.run(
      sessionOn(screen, line, world),
      new CommandArguments(command.name, command.takes, line),
    );
  } finally {
    await screen.close();
  }
}

function report(error: unknown, command: Command | undefined, { stderr, signal }: World): number {
  if (error instanceof OutputClosed) return 0;
  if (signal.aborted) return INTERRUPTED;
  const message = namingFlags(errorText(error), command?.fields);
  stderr.write(`error: ${message}\n`);
  if (!(error instanceof UsageError)) return command?.failure ?? FAILED;
  stderr.write(`See 'kubectl history help${command === undefined ? '' : ` ${command.name}`}'.\n`);
  return MISUSED;
}

/** `The Restore "" is invalid: spec.to: Invalid value …` names fields of the API; the user gave --to. */
function namingFlags(message: string, fields: Command['fields'] = {}): string {
  const own = message
    .replace(/^The Restore "[^"]*" is invalid: /, '')
    .replace(
      /^Timeout: Too large resource version: (\d+), current: (\d+)/,
      'revision $1 is not there yet: the newest is $2',
    );
  for (const [field, flag] of Object.entries(fields)) {
    if (own.startsWith(`${field}:`) || own.startsWith(`${field}[`)) return own.replace(/^[^:]*/, flag);
  }
  return own;
}

function noSuchCommand(wanted: string): UsageError {
  const near = closest(
    wanted,
    COMMANDS.map(({ name }) => name),
  );
  return new UsageError(
    `there is no command ${JSON.stringify(wanted)}${near === undefined ? '' : `; did you mean ${near}?`}`,
  );
}

const screenFor = (line: CommandLine, { stdout, stderr, env }: World): Screen =>
  new Screen({
    ...{ stdout, stderr, env },
    colour: line.given.get('colour')?.at(-1) ?? 'auto',
    isPaged: line.given.get('noPager')?.at(-1) !== 'true',
  });

const sessionOn = (screen: Screen, line: CommandLine, world: World): Session =>
  createSession({ screen, line, env: world.env, now: world.now, signal: world.signal, ask: askIn(world) });

/** Asks only at a terminal. */
function askIn({ stdin, stderr, signal }: World): Session['ask'] {
  if (stdin.isTTY !== true || stderr.isTTY !== true) return undefined;
  return (question) => {
    stderr.write(question);
    const lines = createInterface({ input: stdin, terminal: false });
    signal.addEventListener('abort', () => lines.close(), { once: true });
    return new Promise((resolve) => {
      lines.once('line', (text) => {
        resolve(text);
        lines.close();
      });
      lines.once('close', () => resolve(''));
    });
  };
}

/** Prints nothing when completion fails: messages would disturb typing. */
async function printCompletion(args: readonly string[], world: World): Promise<number> {
  const open = (words: readonly string[]): Session => {
    const line = parseCommandLine(words);
    return sessionOn(screenFor(line, world), line, world);
  };
  const completion = await complete(args, open).catch(() => ({ words: [], directive: 4 }));
  world.stdout.write(toCompletionText(completion));
  return 0;
}
