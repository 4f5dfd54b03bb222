import { SECTIONS } from '../options/all-flags.ts';
import { UsageError } from '../options/flag.ts';
import { formatHelp } from '../options/help.ts';
import { loggingFlags } from '../options/observability.ts';
import { parseOptions, type ServerOptions } from '../options/options.ts';
import { errorText } from '../util/error-text.ts';
import { hidePasswords } from '../util/hidden-passwords.ts';
import { VERSION } from '../version.ts';
import { beginEpoch } from './begin-epoch.ts';
import { runMigrations } from './migrate.ts';
import { serve } from './serve.ts';
import { dropSigningKey, listSigningKeys, rotateSigningKey } from './signing-keys.ts';

/** Runs a command and returns its exit code. 2: wrong command line. 1: the command failed. */
export async function run(args: readonly string[]): Promise<number> {
  const { help, reportedVersion } = loggingFlags;
  if (args.includes(help.shown) || args.includes('-h')) {
    process.stdout.write(formatHelp(SECTIONS));
    return 0;
  }
  const { shown } = reportedVersion;
  const version = args.find((argument) => [shown, `${shown}=true`, `${shown}=raw`].includes(argument));
  if (version !== undefined) {
    process.stdout.write(
      version === `${shown}=raw` ? `${JSON.stringify(VERSION)}\n` : `pg-apiserver ${VERSION.gitVersion}\n`,
    );
    return 0;
  }
  hideFromProcessList();
  try {
    await runCommand(args);
    return 0;
  } catch (error) {
    process.stderr.write(`pg-apiserver: ${hidePasswords(errorText(error))}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

type Command = (words: readonly string[], options: ServerOptions) => Promise<void>;

const COMMANDS: ReadonlyMap<string, Command> = new Map<string, Command>([
  ['rotate-signing-key', rotateSigningKey],
  ['drop-signing-key', dropSigningKey],
  ['list-signing-keys', listSigningKeys],
  ['begin-epoch', beginEpoch],
]);

async function runCommand(args: readonly string[]): Promise<void> {
  const [name = '', ...others] = args;
  if (name === 'migrate') return runMigrations(others);
  const command = COMMANDS.get(name);
  if (command === undefined) return serve(parseOptions(args));
  const firstFlag = others.findIndex((word) => word.startsWith('-'));
  const end = firstFlag < 0 ? others.length : firstFlag;
  return command(others.slice(0, end), parseOptions(others.slice(end)));
}

/** Hides arguments with secrets: setting the title overwrites what `ps` shows. */
function hideFromProcessList(): void {
  const shown = process.argv.map(hidePasswords);
  if (shown.some((argument, at) => argument !== process.argv[at])) process.title = shown.join(' ');
}
